import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { newId } from "../../src/lib/ids.ts";

const atOnce = 100;
const day = 24 * 60 * 60_000;

/** Fills a home with transcripts of a few kilobytes, spread over the days before now. */
export async function writeTranscripts(home: string, count: number): Promise<void> {
  const folder = join(home, "sessions");
  await mkdir(folder, { recursive: true, mode: 0o700 });
  for (let from = 0; from < count; from += atOnce)
    await Promise.all(
      Array.from({ length: Math.min(atOnce, count - from) }, (_, index) => writeOne(folder, from + index)),
    );
}

async function writeOne(folder: string, index: number): Promise<void> {
  const agent = newId();
  const at = new Date(Date.now() - (index * day) / 100).toISOString();
  const line = (body: object, seq: number) => `${JSON.stringify({ agent, seq, at, ...body })}\n`;
  const by = { device: null, name: "local" };
  const bodies = [
    { type: "agent_started", label: null, parent: null, runtime: "shell", model: null, cwd: "/srv/api" },
    { type: "turn_started", turn: "t" },
    { type: "user_message", turn: "t", text: `prompt ${index}`, attachments: [], by },
    ...Array.from({ length: 5 }, () => ({ type: "tool_finished", tool: "bash", output: "x".repeat(1_000) })),
    { type: "usage", input_tokens: 100, output_tokens: 10, cache_read_tokens: 0, cache_write_tokens: 0 },
    { type: "turn_finished", turn: "t", outcome: "done" },
  ];
  await writeFile(join(folder, `${agent}.jsonl`), bodies.map(line).join(""), { mode: 0o600 });
}
