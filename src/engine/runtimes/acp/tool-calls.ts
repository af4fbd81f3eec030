import { resolve } from "node:path";
import { newId } from "../../../lib/ids.ts";
import { type BoundedDiff, boundedDiff } from "../../../lib/unified-diff.ts";
import type { AgentEventBody } from "../../../protocol/events.ts";
import { makeValueVisible, makeVisible } from "../../visible-text.ts";
import type { AgentContext } from "../runtime.ts";
import { acpLimits } from "./acp-limits.ts";
import { boundedValue, cutText, listOf, objectOf, type RawObject, textOf } from "./raw-values.ts";

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

export interface CallEnd {
  readonly output: string;
  readonly isError: boolean;
}

/** The tool calls of one turn. */
export interface ToolCalls {
  /** Takes in what the agent tells of a call; one that was never heard of begins with it. Null beyond the bound. */
  take(raw: RawObject): ToolCall | null;
  /** A call of ours, for something that the agent does without having told of a call. */
  create(kind: "execute" | "edit", title: string, input: RawObject): ToolCall;
  /** Records that it runs. Does nothing the second time. */
  begin(call: ToolCall): Promise<void>;
  print(call: ToolCall, text: string): void;
  end(call: ToolCall, end: CallEnd): Promise<void>;
  /** The call of that id of the agent; null for one that was never heard of. */
  known(theirs: string): ToolCall | null;
  /** A call that began and did not end, for which `where` holds. */
  findOpen(where: (call: ToolCall) => boolean): ToolCall | null;
}

export interface ToolCallsOptions {
  readonly context: Pick<AgentContext, "record" | "delta" | "signal">;
  readonly cwd: string;
  readonly now: () => number;
  readonly redact: (text: string) => string;
  /** Records what was said before. */
  readonly beforeRecord: () => Promise<void>;
  /** Counts text against the bound of the turn. */
  readonly spend: (chars: number) => void;
  /** Called when the calls that are open hold more than they may. */
  readonly onTooMuch: () => void;
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
  return toolNames[call.kind] ?? "tool";
}

export function createToolCalls(options: ToolCallsOptions): ToolCalls {
  const { context, cwd, now, redact } = options;
  const known = new Map<string, ToolCall>();
  const all: ToolCall[] = [];
  let heldChars = 0;

  /** Counts what a call holds; an ended one holds nothing more than what it is known by. */
  function hold(call: ToolCall): void {
    if (call.state === "ended") {
      call.output = "";
      // Another call may still show what a terminal printed.
      if (!call.hasTerminal) call.streamed = "";
      call.changes = [];
      call.input = {};
    }
    const texts = call.changes.reduce(
      (sum, { before, after }) => sum + (before?.length ?? 0) + after.length,
      0,
    );
    const chars = texts + call.output.length + call.streamed.length + acpLimits.titleChars;
    heldChars += chars - call.heldChars;
    call.heldChars = chars;
    if (heldChars > acpLimits.openCallChars) options.onTooMuch();
  }

  function add(kind: string, title: string, input: RawObject): ToolCall {
    const call: ToolCall = {
      id: newId(),
      kind,
      title,
      input,
      output: "",
      streamed: "",
      changes: [],
      paths: [],
      written: null,
      exitCode: undefined,
      hasTerminal: false,
      shows: null,
      announced: false,
      state: "pending",
      startedMs: now(),
      heldChars: 0,
    };
    all.push(call);
    return call;
  }

  function merge(call: ToolCall, raw: RawObject): void {
    call.kind = textOf(raw.kind, 32) ?? call.kind;
    call.title = redact(textOf(raw.title, acpLimits.titleChars) ?? call.title);
    if (raw.rawInput !== undefined && raw.rawInput !== null)
      call.input = objectOf(boundedValue(raw.rawInput, acpLimits.inputChars));
    if (Array.isArray(raw.content)) readContent(call, raw.content);
    else if (raw.rawOutput !== undefined && raw.rawOutput !== null && call.output === "")
      call.output = outputText(redact, raw.rawOutput);
    const paths = listOf(raw.locations, 100).flatMap((each) => textOf(objectOf(each).path, 4_096) ?? []);
    if (paths.length > 0) call.paths = paths.map((path) => resolve(cwd, path));
    hold(call);
  }

  function readContent(call: ToolCall, content: readonly unknown[]): void {
    const texts: string[] = [];
    const changes: FileChange[] = [];
    for (const each of listOf(content, 200)) {
      const item = objectOf(each);
      if (item.type === "content") texts.push(contentText(item.content));
      if (item.type !== "diff") continue;
      const path = textOf(item.path, 4_096);
      if (path === null || typeof item.newText !== "string") continue;
      const before = typeof item.oldText === "string" ? item.oldText : null;
      changes.push({ path: resolve(cwd, path), before, after: item.newText });
    }
    if (changes.length > 0) call.changes = changes;
    if (!call.hasTerminal) call.output = cutOutput(redact(texts.join("\n")));
  }

  async function begin(call: ToolCall): Promise<void> {
    if (call.state !== "pending") return;
    call.state = "running";
    await options.beforeRecord();
    const summary = commandOf(call) ?? pathsOf(call, cwd)[0] ?? call.title;
    const input = Object.keys(call.input).length > 0 ? call.input : { title: call.title };
    const shown = makeValueVisible(redactValue(input, redact));
    options.spend(JSON.stringify(shown).length);
    await context.record({
      type: "tool_started",
      call_id: call.id,
      tool: toolName(call),
      summary: makeVisible(cutText(redact(summary), acpLimits.titleChars), { keepLayout: false }),
      input: shown,
    });
  }

  function print(call: ToolCall, text: string): void {
    if (call.state !== "running" || text === "" || context.signal.aborted) return;
    options.spend(text.length);
    if (call.streamed.length < acpLimits.outputChars) call.streamed += text;
    context.delta({ type: "tool_output", call_id: call.id, text });
  }

  return {
    take(raw) {
      const theirs = textOf(raw.toolCallId, 500);
      if (theirs === null || all.length >= acpLimits.toolCalls) return null;
      const call = known.get(theirs) ?? add("other", "", {});
      known.set(theirs, call);
      if (call.state === "ended") return call;
      merge(call, raw);
      if (!call.announced && call.state === "pending") {
        call.announced = true;
        context.delta({ type: "tool_call_streaming", tool: toolName(call) });
      }
      // What it printed so far is told as a whole each time; the new part of it is passed on.
      if (call.state === "running" && !call.hasTerminal && call.output.startsWith(call.streamed))
        print(call, call.output.slice(call.streamed.length));
      return call;
    },
    known: (theirs) => known.get(theirs) ?? null,
    create: add,
    begin,
    print,
    async end(call, { output, isError }) {
      await begin(call);
      if (call.state === "ended") return;
      call.state = "ended";
      const diff = call.written ?? diffOf(call);
      options.spend(output.length + (diff?.patch.length ?? 0));
      const body: AgentEventBody = {
        type: "tool_finished",
        call_id: call.id,
        tool: toolName(call),
        output,
        is_error: isError,
        millis: Math.max(0, Math.round(now() - call.startedMs)),
        ...(call.exitCode === undefined ? {} : { exit_code: call.exitCode }),
        ...(diff === null || isError ? {} : { diff }),
      };
      hold(call);
      await options.beforeRecord();
      await context.record(body);
    },
    findOpen: (where) => all.findLast((call) => call.state !== "ended" && where(call)) ?? null,
  };

  function diffOf(call: ToolCall): { path: string; patch: string } | null {
    const [first] = call.changes;
    if (!first) return null;
    return { path: first.path, patch: redact(patchOf(call.changes).patch) };
  }
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

/** The command line of a call that runs one, where its input says it. Words are quoted as a shell reads them. */
export function commandOf(call: Pick<ToolCall, "kind" | "input">): string | null {
  if (call.kind !== "execute") return null;
  const { command, cmd } = call.input;
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

/** The text of a content block; what is no text is named. */
export function contentText(raw: unknown): string {
  const block = objectOf(raw);
  if (block.type === "text") return typeof block.text === "string" ? block.text : "";
  if (block.type === "resource") {
    const { text } = objectOf(block.resource);
    return typeof text === "string" ? text : "[a resource]";
  }
  if (block.type === "resource_link") return `[${textOf(block.uri, 1_000) ?? "a link"}]`;
  if (block.type === "image") return "[an image]";
  if (block.type === "audio") return "[audio]";
  return "";
}

function outputText(redact: (text: string) => string, raw: unknown): string {
  if (typeof raw === "string") return cutOutput(redact(raw));
  const { output, stdout, formatted_output: formatted } = objectOf(raw);
  const text = [formatted, output, stdout].find((each) => typeof each === "string");
  return cutOutput(redact(typeof text === "string" ? text : JSON.stringify(boundedValue(raw, 10_000))));
}

function cutOutput(text: string): string {
  if (text.length <= acpLimits.outputChars) return cutText(text, acpLimits.outputChars);
  const left = text.length - acpLimits.outputChars;
  return `${cutText(text, acpLimits.outputChars)}\n[${left} characters left out]\n`;
}

function redactValue(value: unknown, redact: (text: string) => string): unknown {
  if (typeof value === "string") return redact(value);
  if (Array.isArray(value)) return value.map((each) => redactValue(each, redact));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, redactValue(inner, redact)]));
}
