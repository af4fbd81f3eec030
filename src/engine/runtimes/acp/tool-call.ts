import { resolve } from "node:path";
import { type BoundedDiff, boundedDiff } from "../../../lib/unified-diff.ts";
import { acpLimits } from "./acp-limits.ts";
import { cutText, type RawObject } from "./raw-values.ts";

export interface FileChange {
  /** Absolute; links are not resolved yet. */
  readonly path: string;
  readonly before: string | null;
  readonly after: string;
}

/** One tool call of a turn, as the agent tells of it or as we make it for its terminals and writes. */
export interface ToolCall {
  /** Ours: the agent may use the same one again. */
  readonly id: string;
  kind: string;
  /** The agent's own words for it. */
  title: string;
  input: RawObject;
  /** Its command was longer than what is kept of an input: what is known of it is not what runs. */
  isCut: boolean;
  output: string;
  /** Output that went to the clients as it came. */
  streamed: string;
  changes: readonly FileChange[];
  paths: readonly string[];
  /** What was really written for it. */
  written: { readonly path: string; readonly patch: string } | null;
  exitCode: number | null | undefined;
  /** A terminal of ours prints into it. */
  hasTerminal: boolean;
  /** The call of a terminal that the agent shows in this one. */
  shows: ToolCall | null;
  announced: boolean;
  state: "pending" | "running" | "ended";
  /** When it was first heard of. */
  readonly startedMs: number;
  /** What it holds in memory, about. */
  heldChars: number;
}

const toolNames: Readonly<Record<string, string>> = {
  execute: "bash",
  edit: "edit",
  delete: "delete",
  move: "move",
  read: "read",
  search: "search",
  fetch: "fetch",
  think: "think",
  switch_mode: "mode",
};

/** What clients see as the tool's name. */
export function toolName(call: Pick<ToolCall, "kind">): string {
  return Object.hasOwn(toolNames, call.kind) ? (toolNames[call.kind] ?? "tool") : "tool";
}

/** The patches of all changes, one behind the other, as far as they can be shown. */
export function patchOf(changes: readonly FileChange[]): BoundedDiff {
  let left: number = acpLimits.diffChars;
  let isWhole = true;
  const patches = changes.map(({ path, before, after }) => {
    const found = boundedDiff(cutText(path, acpLimits.titleChars), before, after, left);
    left -= found.patch.length;
    isWhole &&= found.isWhole;
    return cutText(found.patch, found.patch.length);
  });
  return { patch: patches.join(""), isWhole };
}

/** What a call is that its agent calls `other`, or nothing: what it holds says whether it runs or writes something. */
export function kindOf({ kind, input, changes }: Pick<ToolCall, "kind" | "input" | "changes">): string {
  if (Object.hasOwn(toolNames, kind)) return kind;
  if (commandIn(input) !== null) return "execute";
  return changes.length > 0 ? "edit" : kind;
}

/** The command line of a call that runs one, where its input says it. */
export function commandOf({ kind, input }: Pick<ToolCall, "kind" | "input">): string | null {
  return kind === "execute" ? commandIn(input) : null;
}

/** The command line in the input of a call of whatever kind. Words are quoted as a shell reads them. */
export function commandIn({ command, cmd }: RawObject): string | null {
  const found = command ?? cmd;
  if (typeof found === "string") return found.trim() === "" ? null : found;
  if (!Array.isArray(found) || found.length === 0) return null;
  const words = found.filter((word) => typeof word === "string");
  return words.length === found.length ? words.map(quoteWord).join(" ") : null;
}

/** The word itself where nothing in it is special to a shell, else in single quotes. */
export function quoteWord(word: string): string {
  return /^[A-Za-z0-9_@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** Absolute paths of the files that a call is about: of its diffs, its input, its locations. */
export function pathsOf(call: Pick<ToolCall, "changes" | "input" | "paths" | "kind">, cwd: string): string[] {
  const { input } = call;
  const named = [input.file_path, input.filePath, input.path, input.absolute_path, input.abs_path].flatMap(
    (each) => (typeof each === "string" && each !== "" ? [resolve(cwd, each)] : []),
  );
  return [...new Set([...call.changes.map(({ path }) => path), ...named, ...call.paths])];
}
