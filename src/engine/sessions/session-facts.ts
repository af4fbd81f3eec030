import type { FileHandle } from "node:fs/promises";
import { type Static, Type } from "typebox";
import { openRecords, scanLines } from "../../lib/jsonl-scan.ts";
import { engineLimits } from "../engine-limits.ts";
import { cleanLabel } from "../visible-text.ts";

const firstReadBytes = 16 * 1024;
const maxHeadBytes = 1024 * 1024;
const firstTailBytes = 256 * 1024;
const maxTailBytes = 2 * 1024 * 1024;
const promptChars = 200;
const pathChars = 8_192;

const nullable = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) =>
  Type.Union([schema, Type.Null()]);
const Text = Type.String();

/** What a list shows of a transcript, found in its first and last records. Kept in a cache that may be thrown away. */
export const SessionFactsSchema = Type.Object({
  id: Text,
  /** Size and time of the file when it was read: another size or time means that it must be read again. */
  bytes: Type.Integer(),
  mtime_ms: Type.Number(),
  updated_ms: Type.Number(),
  started: nullable(Text),
  label: nullable(Text),
  title: nullable(Text),
  prompt: nullable(Text),
  cwd: nullable(Text),
  runtime: nullable(Text),
  model: nullable(Text),
  thinking: Type.Optional(nullable(Text)),
  parent: nullable(Text),
  context_tokens: nullable(Type.Integer()),
  /** True when the first record is not what every transcript begins with. */
  damaged: Type.Boolean(),
});
export type SessionFacts = Static<typeof SessionFactsSchema>;

/** Most records are of no use here, and are not parsed: the quotes of text inside of them are escaped. */
const marks = [
  '"title"',
  '"model_changed"',
  '"thinking_changed"',
  '"cleared"',
  '"usage"',
  '"user_message"',
].map((mark) => Buffer.from(mark));
const envelopeBytes = 200;
const atPattern = /"at": ?"([^"\\]{1,40})"/;

type Raw = Readonly<Record<string, unknown>>;

/**
 * Reads the ends of a transcript. With `known`, facts of the same file when it was shorter, only what came since is looked
 * at. Null when there is no such file. Memory: at most 2 MiB.
 */
export async function readFacts(
  path: string,
  id: string,
  known: SessionFacts | null,
): Promise<SessionFacts | null> {
  const handle = await openRecords(path);
  if (!handle) return null;
  try {
    const { size, mtimeMs } = await handle.stat();
    const next = await readHead(handle, id, size);
    Object.assign(next, { bytes: size, mtime_ms: mtimeMs, updated_ms: Math.floor(mtimeMs) });
    const isGrown = known !== null && known.bytes < size && known.started === next.started;
    if (isGrown) {
      next.title = known.title;
      next.model = known.model;
      next.thinking = known.thinking ?? null;
      next.context_tokens = known.context_tokens;
    }
    await readTail(handle, isGrown ? known.bytes : null, size, next);
    return next;
  } finally {
    await handle.close();
  }
}

async function readHead(handle: FileHandle, id: string, size: number): Promise<SessionFacts> {
  const facts: SessionFacts = {
    id,
    bytes: 0,
    mtime_ms: 0,
    updated_ms: 0,
    started: null,
    label: null,
    title: null,
    prompt: null,
    cwd: null,
    runtime: null,
    model: null,
    parent: null,
    context_tokens: null,
    damaged: true,
  };
  let isFirst = true;
  let from = 0;
  for (let bytes = firstReadBytes; ; bytes *= 4) {
    let complete = false;
    const to = Math.min(size, bytes);
    from = await scanLines(handle, { from, to, maxLineBytes: maxHeadBytes }, (line) => {
      const record = parseLine(line);
      if (isFirst) takeStart(record, facts);
      isFirst = false;
      if (record?.type !== "user_message") return undefined;
      facts.prompt = promptOf(record);
      complete = true;
      return "stop";
    });
    if (complete || to === size || bytes >= maxHeadBytes) return facts;
  }
}

function takeStart(record: Raw | null, facts: SessionFacts): void {
  if (record?.type !== "agent_started") return;
  facts.damaged = false;
  facts.started = timeOf(record.at) === null ? null : String(record.at);
  facts.label = text(record.label, 1_000);
  facts.cwd = text(record.cwd, pathChars);
  facts.runtime = text(record.runtime, 64);
  facts.model = text(record.model, 200);
  facts.parent = text(record.parent, 64);
}

/**
 * Looks at the last whole records, from further back while there is none: one can be long. Of a file that has grown, all
 * that came since, and a little before: the last look may have met a line that was being written.
 */
async function readTail(
  handle: FileHandle,
  grownFrom: number | null,
  size: number,
  facts: SessionFacts,
): Promise<void> {
  const from = Math.max(0, (grownFrom ?? 0) - firstReadBytes);
  const least = grownFrom === null ? firstTailBytes : Math.min(maxTailBytes, size - from);
  for (let bytes = least; ; bytes *= 4) {
    const start = Math.max(from, size - bytes);
    let found = false;
    const range = { from: start, to: size, maxLineBytes: engineLimits.transcriptLineBytes };
    await scanLines(handle, range, (line) => {
      const quickAt = atPattern.exec(line.toString("latin1", 0, envelopeBytes))?.[1];
      const isOfUse = quickAt === undefined || marks.some((mark) => line.includes(mark));
      const record = isOfUse ? parseLine(line) : { at: quickAt };
      if (record) found = takeLater(record, facts) || found;
      return undefined;
    });
    if (found || start === from || bytes >= maxTailBytes) return;
  }
}

function takeLater(record: Raw, facts: SessionFacts): boolean {
  if (record.type === "title") facts.title = text(record.title, 1_000) ?? facts.title;
  else if (record.type === "model_changed") facts.model = text(record.model, 200);
  else if (record.type === "thinking_changed") facts.thinking = text(record.thinking, 64);
  else if (record.type === "cleared") facts.context_tokens = null;
  else if (record.type === "usage" && Number.isSafeInteger(record.context_tokens))
    facts.context_tokens = Number(record.context_tokens);
  else if (record.type === "user_message") facts.prompt ??= promptOf(record);
  const atMs = timeOf(record.at);
  if (atMs !== null) facts.updated_ms = atMs;
  return atMs !== null;
}

function parseLine(line: Buffer): Raw | null {
  try {
    const value: unknown = JSON.parse(line.toString("utf8"));
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Raw) : null;
  } catch {
    // A damaged line costs only itself.
    return null;
  }
}

function promptOf(record: Raw): string | null {
  if (typeof record.text !== "string") return null;
  const line = record.text
    .slice(0, 4_096)
    .split("\n")
    .find((each) => each.trim() !== "");
  return line === undefined ? null : cleanLabel(line, promptChars);
}

function text(value: unknown, maxChars: number): string | null {
  return typeof value === "string" ? value.slice(0, maxChars) : null;
}

function timeOf(value: unknown): number | null {
  if (typeof value !== "string" || value.length > 64) return null;
  const ms = Date.parse(value);
  // What no Date can be would break the list for everybody.
  return Number.isFinite(ms) && Math.abs(ms) < 8.64e15 ? ms : null;
}
