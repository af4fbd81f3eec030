import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { newId } from "../../../src/lib/ids.ts";

let seq = 0;

export interface WrittenSession {
  readonly id?: string;
  readonly at?: string;
  readonly cwd?: string;
  readonly parent?: string | null;
  readonly model?: string | null;
  readonly label?: string | null;
  readonly prompt?: string;
  /** Further records, without envelope. */
  readonly records?: readonly object[];
}

/** Writes a transcript as the engine would. Returns the agent's id. */
export async function writeSession(folder: string, session: WrittenSession = {}): Promise<string> {
  const id = session.id ?? newId();
  const at = session.at ?? "2026-11-30T10:00:00.000Z";
  const records = [
    {
      type: "agent_started",
      label: session.label ?? null,
      parent: session.parent ?? null,
      runtime: "shell",
      model: session.model ?? null,
      cwd: session.cwd ?? "/srv/api",
    },
    ...(session.prompt === undefined
      ? []
      : [
          {
            type: "user_message",
            turn: "t",
            text: session.prompt,
            attachments: [],
            by: { device: null, name: "local" },
          },
        ]),
    ...(session.records ?? []),
  ];
  await writeFile(join(folder, `${id}.jsonl`), records.map((record) => lineOf(id, at, record)).join(""));
  return id;
}

export function lineOf(agent: string, at: string, record: object): string {
  seq += 1;
  return `${JSON.stringify({ agent, seq, at, ...record })}\n`;
}
