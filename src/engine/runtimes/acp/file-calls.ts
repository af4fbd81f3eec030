import { resolve } from "node:path";
import { SallyportError } from "../../../errors.ts";
import { boundedDiff } from "../../../lib/unified-diff.ts";
import { openForAgent } from "../../files/open-for-agent.ts";
import { findWriteTarget, type WriteTarget, writeForAgent } from "../../files/write-for-agent.ts";
import { acpLimits } from "./acp-limits.ts";
import { RefuseAgent } from "./connection.ts";
import { cutText, objectOf } from "./raw-values.ts";
import { type FileChange, pathsOf, type ToolCall } from "./tool-call.ts";
import type { TurnDesk } from "./turn-desk.ts";

const notFound = -32002;
const invalidParams = -32602;
const refused = -32603;

export interface ReadPlace {
  readonly cwd: string;
  readonly homeFolder: string;
  /** True for a path outside of the folder that may be read all the same. */
  readonly mayLeave: (path: string) => boolean;
  /** A file that is not there is read as an empty one. */
  readonly missingIsEmpty?: boolean;
}

/** Answers `fs/read_text_file`: a file below the tab's folder, or one that was allowed. Never a file of the home. */
export async function readTextFile(rawParams: unknown, place: ReadPlace): Promise<{ content: string }> {
  const { path, line, limit } = objectOf(rawParams);
  if (typeof path !== "string") throw new RefuseAgent(invalidParams, "path must be an absolute path.");
  const opened = await openForAgent(path, {
    homeFolder: place.homeFolder,
    browseRoot: place.mayLeave(resolve(path)) ? null : place.cwd,
  }).catch((error: unknown) => {
    const isMissing = error instanceof SallyportError && error.code === "not_found";
    if (isMissing && place.missingIsEmpty) return null;
    return throwRefusal(error);
  });
  if (opened === null) return { content: "" };
  try {
    if (opened.stat.size > acpLimits.fileBytes)
      throw new RefuseAgent(refused, `The file has more than ${acpLimits.fileBytes} bytes.`);
    const bytes = Buffer.alloc(Math.min(acpLimits.fileBytes, opened.stat.size + 64 * 1024));
    let length = 0;
    for (;;) {
      const { bytesRead } = await opened.handle.read(bytes, length, bytes.length - length, length);
      length += bytesRead;
      if (bytesRead === 0 || length === bytes.length) break;
    }
    return { content: linesOf(bytes.toString("utf8", 0, length), line, limit) };
  } finally {
    await opened.handle.close();
  }
}

/** `line` counts from 1. */
function linesOf(text: string, rawLine: unknown, rawLimit: unknown): string {
  const from = typeof rawLine === "number" && rawLine >= 1 ? Math.floor(rawLine) - 1 : 0;
  const count = typeof rawLimit === "number" && rawLimit >= 0 ? Math.floor(rawLimit) : null;
  if (from === 0 && count === null) return text;
  return text
    .split("\n")
    .slice(from, count === null ? undefined : from + count)
    .join("\n");
}

/**
 * Answers `fs/write_text_file`: a call of kind edit, judged by the mode and the rules whatever the agent asked before, but
 * for the very change that was shown and allowed in this turn.
 */
export async function writeTextFile(
  rawParams: unknown,
  desks: readonly [TurnDesk, ...TurnDesk[]],
  { homeFolder, signal }: { readonly homeFolder: string; readonly signal: AbortSignal },
): Promise<Record<string, never>> {
  const { path, content } = objectOf(rawParams);
  if (typeof path !== "string" || typeof content !== "string")
    throw new RefuseAgent(invalidParams, "path and content must be texts.");
  const text = content.replace(/\p{Surrogate}/gu, "\ufffd");
  const limits = { homeFolder, maxBytes: acpLimits.fileBytes };
  const target = await findWriteTarget(path, limits).catch(throwRefusal);
  const before = target.before?.toString("utf8") ?? null;
  // Some agents change the file themselves once they were allowed to, and then tell us of it: nothing is left to write.
  if (before === text) return {};
  const isMeant = (each: TurnDesk): ToolCall | null =>
    each.calls.findOpen((call) => isAbout(call, target, path, each.cwd));
  const desk = desks.find(isMeant) ?? desks[0];
  const diff = boundedDiff(target.realPath, before, text, acpLimits.diffChars);
  const patch = desk.redact(cutText(diff.patch, diff.patch.length));
  const open = isMeant(desk);
  const covered = takeAllowed(desk.allowed.changes, target, before, text);
  const call = open ?? desk.calls.create("edit", `Write ${target.realPath}`, { path: target.realPath });
  await desk.calls.begin(call);
  const own = open === null;
  try {
    if (!covered) {
      const permit = await desk.permit({
        callId: call.id,
        tool: "edit",
        subject: target.realPath,
        input: { path: target.realPath, diff: patch },
        signal,
      });
      if (!permit.allowed) throw new RefuseAgent(refused, permit.reason);
    }
    // What was shown must be what is changed.
    const now = await findWriteTarget(path, limits).catch(throwRefusal);
    if (now.realPath !== target.realPath || !sameBytes(now.before, target.before))
      throw new RefuseAgent(refused, "The file was changed by somebody else meanwhile. Read it again.");
    desk.context.signal.throwIfAborted();
    await writeForAgent(now, text, limits).catch(throwRefusal);
    // The agent may have ended its call while a person looked at it: what was written is shown all the same.
    const isLate = call.state === "ended";
    const shown = isLate ? desk.calls.create("edit", call.title, { path: target.realPath }) : call;
    shown.written = { path: target.realPath, patch };
    if (own || isLate) await desk.calls.end(shown, { output: "", isError: false });
    return {};
  } catch (error) {
    const refusal = error instanceof RefuseAgent ? error : null;
    if (!desk.context.signal.aborted)
      await desk.calls.end(call, { output: refusal?.message ?? "It could not be written.", isError: true });
    throw error;
  }
}

/** True for the call that the agent told of for this very write. */
function isAbout(call: ToolCall, target: WriteTarget, path: string, cwd: string): boolean {
  if (call.kind !== "edit" || call.written !== null) return false;
  const paths = pathsOf(call, cwd);
  return paths.includes(target.realPath) || paths.includes(resolve(path));
}

/** Takes the allowed change that is exactly this one: the whole text, or the one place in the file that it replaces. */
function takeAllowed(
  allowed: FileChange[],
  target: WriteTarget,
  before: string | null,
  text: string,
): boolean {
  const index = allowed.findIndex(
    (change) => change.path === target.realPath && resultOf(change, before) === text,
  );
  if (index === -1) return false;
  allowed.splice(index, 1);
  return true;
}

/** What the change, as it was shown, makes of the file as it is; null where it does not fit it. */
function resultOf(change: FileChange, before: string | null): string | null {
  if ((change.before ?? "") === (before ?? "")) return change.after;
  if (change.before === null || change.before === "" || before === null) return null;
  const at = before.indexOf(change.before);
  if (at === -1 || before.includes(change.before, at + 1)) return null;
  return before.slice(0, at) + change.after + before.slice(at + change.before.length);
}

function sameBytes(one: Buffer | null, other: Buffer | null): boolean {
  return one === null || other === null ? one === other : one.equals(other);
}

function throwRefusal(error: unknown): never {
  if (!(error instanceof SallyportError)) throw error;
  const code =
    error.code === "not_found" ? notFound : error.code === "invalid_field" ? invalidParams : refused;
  throw new RefuseAgent(code, error.message);
}
