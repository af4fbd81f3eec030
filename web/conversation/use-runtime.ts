import type { RuntimeRow } from "../../src/protocol/rest-objects.ts";
import { type Session, useSession } from "../state/session.ts";

/** What an agent runs on; null where the daemon no longer has it. */
export function useRuntime(name: string): RuntimeRow | null {
  const runtimes = useSession().snapshot.value?.runtimes ?? [];
  return runtimes.find((row) => row.name === name) ?? null;
}

/** The shell runs a prompt as a command line: it has no context to sum up, and takes no attachments. */
export function isShellRuntime(session: Session, name: string): boolean {
  const row = session.snapshot.value?.runtimes.find((each) => each.name === name);
  return (row?.kind ?? name) === "shell";
}

export function useIsShell(name: string): boolean {
  return isShellRuntime(useSession(), name);
}
