import type { SessionPage } from "../../../engine/engine.ts";
import type { AgentEvent } from "../../../protocol/events.ts";
import { ulidOf } from "../../../protocol/mew/ids.ts";
import type { MewFinish, MewMessage, MewPart, MewTokens } from "../../../protocol/mew/values.ts";
import { derivedId, messageIdOf } from "./ids.ts";
import {
  addTokens,
  callPart,
  compactionPart,
  type EventOf,
  errorState,
  filePart,
  finishedState,
  noTokens,
  runningState,
  type StartedCall,
  spokenPart,
  startedCall,
  timeOf,
  unseenCall,
} from "./parts.ts";

export interface HistoryOptions {
  readonly agent: string;
  /** Runtime and model of the agent; the records do not repeat them. */
  readonly provider: string;
  readonly model: string | null;
  /** What the open turn has said so far; null when none is open, or for an older page. */
  readonly streaming: SessionPage["streaming"];
  /** True when the last record is the transcript's last: then nothing more can come of a call without an end. */
  readonly isNewest: boolean;
}

/** A message, and where its records begin. */
export interface HistoryMessage {
  readonly message: MewMessage;
  readonly firstRecord: number;
  /** False while a call of an earlier message has no end: a page that begins here would tear the two apart. */
  readonly maySplit: boolean;
}

interface Draft {
  readonly id: string;
  readonly role: "user" | "assistant";
  readonly parts: MewPart[];
  readonly created: number;
  completed: number | null;
  tokens: MewTokens;
  cost: number;
  finish: MewFinish | null;
  error: { readonly kind: string; readonly message: string } | null;
  readonly firstRecord: number;
  readonly maySplit: boolean;
}
interface OpenCall {
  readonly call: StartedCall;
  readonly draft: Draft;
  readonly at: number;
}

const unfinishedText = "This call has no end in the transcript.";

/**
 * The messages of a run of transcript records, oldest first, with the ids that the live stream gives them. The same
 * rules as there: a call joins the message before it, else it is one of its own. What was cleared is left out.
 */
export function historyOf(
  records: readonly AgentEvent[],
  options: HistoryOptions,
): readonly HistoryMessage[] {
  const { agent, streaming } = options;
  let drafts: Draft[] = [];
  let open: Draft | null = null;
  let firstOfTurn: number | null = null;
  const calls = new Map<string, OpenCall>();

  function draft(role: Draft["role"], id: string, event: { at: string }, at: number): Draft {
    const made: Draft = {
      id,
      role,
      parts: [],
      created: timeOf(event),
      completed: null,
      tokens: noTokens,
      cost: 0,
      finish: null,
      error: null,
      firstRecord: firstOfTurn ?? at,
      maySplit: calls.size === 0,
    };
    firstOfTurn = null;
    drafts.push(made);
    return made;
  }
  function lastAssistant(): Draft | null {
    const last = drafts.at(-1);
    return last?.role === "assistant" ? last : null;
  }
  /** Whatever follows a message in its turn, the message did not end the turn. */
  function endOpen(finish: MewFinish): void {
    if (open && open.finish === null) open.finish = finish;
    open = null;
  }

  function speak(
    rawId: string,
    said: { text: string; thinking: string },
    event: { at: string },
    at: number,
  ): Draft {
    endOpen("tool_use");
    const id = messageIdOf(agent, rawId);
    const made = draft("assistant", id, event, at);
    const message = { id, rawId };
    if (said.thinking !== "") made.parts.push(spokenPart("reasoning", agent, message, said.thinking));
    if (said.text !== "") made.parts.push(spokenPart("text", agent, message, said.text));
    return made;
  }

  function ask(event: EventOf<"user_message">, at: number): void {
    endOpen("stop");
    const id = messageIdOf(agent, event.turn);
    const made = draft("user", id, event, at);
    made.parts.push(spokenPart("text", agent, { id, rawId: event.turn }, event.text));
    made.parts.push(...event.attachments.map((file, index) => filePart(agent, event.turn, id, file, index)));
  }

  function start(event: EventOf<"tool_started">, at: number): void {
    const call = startedCall(agent, event, open?.id ?? null);
    const into = open ?? draft("assistant", call.messageId, event, at);
    into.finish = "tool_use";
    open = null;
    calls.set(call.callId, { call, draft: into, at: into.parts.length });
    into.parts.push(callPart(agent, call, runningState(call, outputSoFar(call.callId))));
  }
  function outputSoFar(callId: string): string {
    return streaming?.tools.find((each) => each.call_id === callId)?.output ?? "";
  }

  function finish(event: EventOf<"tool_finished">, at: number): void {
    const known = calls.get(event.call_id);
    calls.delete(event.call_id);
    if (known) {
      known.draft.parts[known.at] = callPart(agent, known.call, finishedState(known.call, event));
      known.draft.completed = timeOf(event);
      return;
    }
    const call = unseenCall(agent, event);
    const made = draft("assistant", call.messageId, event, at);
    made.finish = "tool_use";
    made.completed = timeOf(event);
    made.parts.push(callPart(agent, call, finishedState(call, event)));
  }

  function endTurn(event: EventOf<"turn_finished">): void {
    endOpen(event.outcome === "done" ? "stop" : "error");
    const last = lastAssistant();
    if (last === null || event.outcome === "done") return;
    last.error =
      event.outcome === "cancelled"
        ? { kind: "aborted", message: "The turn was cancelled." }
        : { kind: "unknown", message: event.error ?? "The turn failed." };
  }

  function take(event: AgentEvent, at: number): void {
    switch (event.type) {
      case "turn_started":
        endOpen("stop");
        calls.clear();
        firstOfTurn = at;
        break;
      case "user_message":
        ask(event, at);
        break;
      case "assistant_message": {
        const { id, text, thinking = "" } = event.message;
        const made = speak(id, { text, thinking }, event, at);
        made.completed = timeOf(event);
        open = made;
        break;
      }
      case "tool_started":
        start(event, at);
        break;
      case "tool_finished":
        finish(event, at);
        break;
      case "usage": {
        const last = lastAssistant();
        if (!last) break;
        last.tokens = addTokens(last.tokens, event);
        last.cost += event.cost ?? 0;
        break;
      }
      case "compacted": {
        endOpen("tool_use");
        const made = draft("assistant", derivedId("message", agent, String(event.seq)), event, at);
        made.completed = timeOf(event);
        made.parts.push(compactionPart(agent, event, made.id));
        break;
      }
      case "cleared":
        drafts = [];
        open = null;
        calls.clear();
        break;
      case "turn_finished":
        endTurn(event);
        firstOfTurn = null;
        break;
      default:
    }
  }

  for (const [at, event] of records.entries()) take(event, at);
  const last = records.at(-1);
  if (streaming !== null && streaming.message !== null && streaming.text + streaming.thinking !== "")
    speak(streaming.message, streaming, last ?? { at: "" }, records.length);
  else if (streaming === null && options.isNewest)
    for (const { call, draft: into, at } of calls.values())
      into.parts[at] = callPart(agent, call, errorState(call, unfinishedText, into.created));
  const shown = drafts.filter(({ parts }) => parts.length > 0);
  return shown.map(({ firstRecord, maySplit, ...rest }) => ({
    message: messageOf(rest, options),
    firstRecord,
    maySplit,
  }));
}

function messageOf(
  {
    id,
    role,
    parts,
    created,
    completed,
    tokens,
    cost,
    finish,
    error,
  }: Omit<Draft, "firstRecord" | "maySplit">,
  { agent, provider, model }: HistoryOptions,
): MewMessage {
  return {
    id,
    session_id: ulidOf(agent),
    role,
    parts,
    time: { created, ...(completed === null ? {} : { completed }) },
    ...(role === "user"
      ? {}
      : {
          assistant: {
            provider_id: provider,
            model_id: model ?? "",
            cost,
            tokens,
            ...(finish === null ? {} : { finish }),
            ...(error === null ? {} : { error }),
          },
        }),
  };
}
