import { resolve } from "node:path";
import { newId } from "../../../lib/ids.ts";
import type { AgentEventBody } from "../../../protocol/events.ts";
import { makeValueVisible, makeVisible } from "../../visible-text.ts";
import type { AgentContext } from "../runtime.ts";
import { acpLimits } from "./acp-limits.ts";
import { cutOutput, outputText, readCallContent } from "./call-content.ts";
import { boundedValue, cutText, listOf, objectOf, type RawObject, textOf } from "./raw-values.ts";
import { commandIn, commandOf, kindOf, patchOf, pathsOf, type ToolCall, toolName } from "./tool-call.ts";

export interface CallEnd {
  readonly output: string;
  readonly isError: boolean;
}

/** The tool calls of one turn. */
export interface ToolCalls {
  /**
   * Takes in what the agent tells of a call; one that was never heard of begins with it. Null beyond the bound. `anew`: one
   * that has ended is another call by the same name.
   */
  take(raw: RawObject, how?: { readonly anew: boolean }): ToolCall | null;
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
      isCut: false,
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
    if (raw.rawInput !== undefined && raw.rawInput !== null) takeInput(call, objectOf(raw.rawInput));
    if (Array.isArray(raw.content)) {
      const { text, changes } = readCallContent(raw.content, cwd);
      if (changes.length > 0) call.changes = changes;
      if (!call.hasTerminal) call.output = cutOutput(redact(text));
    } else if (raw.rawOutput !== undefined && raw.rawOutput !== null && call.output === "")
      call.output = cutOutput(redact(outputText(raw.rawOutput)));
    const paths = listOf(raw.locations, 100).flatMap((each) => textOf(objectOf(each).path, 4_096) ?? []);
    if (paths.length > 0) call.paths = paths.map((path) => resolve(cwd, path));
    call.kind = kindOf(call);
    hold(call);
  }

  function takeInput(call: ToolCall, rawInput: RawObject): void {
    call.input = objectOf(boundedValue(rawInput, acpLimits.inputChars));
    call.isCut = commandIn(rawInput) !== commandIn(call.input);
  }

  async function begin(call: ToolCall): Promise<void> {
    if (call.state !== "pending") return;
    call.state = "running";
    const summary = commandOf(call) ?? pathsOf(call, cwd)[0] ?? (call.title || toolName(call));
    const input = Object.keys(call.input).length > 0 ? call.input : { title: call.title };
    const shown = makeValueVisible(redactValue(input, redact));
    options.spend(JSON.stringify(shown).length);
    const body: AgentEventBody = {
      type: "tool_started",
      call_id: call.id,
      tool: toolName(call),
      summary: makeVisible(cutText(redact(summary), acpLimits.titleChars), { keepLayout: false }),
      input: shown,
    };
    // The agent may tell another thing of the call meanwhile; this is how it began.
    await options.beforeRecord();
    await context.record(body);
  }

  function print(call: ToolCall, text: string): void {
    if (call.state !== "running" || text === "" || context.signal.aborted) return;
    options.spend(text.length);
    if (call.streamed.length < acpLimits.outputChars) call.streamed += text;
    context.delta({ type: "tool_output", call_id: call.id, text });
  }

  return {
    take(raw, how) {
      const theirs = textOf(raw.toolCallId, 500);
      if (theirs === null || all.length >= acpLimits.toolCalls) return null;
      const before = known.get(theirs);
      const call = before && !(how?.anew && before.state === "ended") ? before : add("other", "", {});
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

function redactValue(value: unknown, redact: (text: string) => string): unknown {
  if (typeof value === "string") return redact(value);
  if (Array.isArray(value)) return value.map((each) => redactValue(each, redact));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, redactValue(inner, redact)]));
}
