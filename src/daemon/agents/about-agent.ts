import type { RuntimeAbout } from "../../engine/runtimes/runtime.ts";
import { keyCommand } from "./agent-keys.ts";
import type { FoundAgent } from "./find-agents.ts";

/** How an agent did when it was last used; null before that. */
export type LastUse = { readonly ok: true } | { readonly ok: false; readonly error: string } | null;

const maxErrorChars = 300;

/** What a person is told of an agent before it is chosen. `keySource` is where its key comes from, in words. */
export function aboutAgent(found: FoundAgent, lastUse: LastUse, keySource: string | null): RuntimeAbout {
  const { title, source, known } = found;
  const fixed = { title, kind: "acp", source, version: null } as const;
  if (found.path === null)
    return {
      ...fixed,
      state: "missing",
      message: `There is no program ${found.command} that can be run.`,
      next:
        known === null
          ? `Correct agents.${found.name}.command in config.toml.`
          : `Install it (${known.install}), or correct agents.${found.name}.command in config.toml.`,
    };
  const key = keySource === null ? "" : ` Uses ${keySource}.`;
  if (lastUse?.ok === false)
    return {
      ...fixed,
      state: "failed",
      message: `Did not work the last time: ${lastUse.error.slice(0, maxErrorChars)}${key}`,
      next: nextStep(found),
    };
  return {
    ...fixed,
    state: lastUse === null ? "found" : "ready",
    message: `${lastUse === null ? "Is installed" : "Works"}: ${found.path}.${key}`,
    next: null,
  };
}

/** What helps an agent that wants to know who pays. */
function nextStep(found: FoundAgent): string | null {
  const key = keyCommand(found);
  const ways = [
    ...(found.known?.login ? [`run: ${found.known.login}`] : []),
    ...(key === null ? [] : [`give it a key: ${key}`]),
  ];
  return ways.length === 0 ? null : `If it wants a login, ${ways.join("; or ")}`;
}
