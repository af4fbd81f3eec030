import type { JsonRecord } from "../../lib/jsonl-read.ts";
import { walkJsonlBackwards } from "../../lib/jsonl-read.ts";
import type { AgentEventBody } from "../../protocol/events.ts";
import type { LiveAgent } from "../agents/live-agent.ts";
import { orRefuse } from "../disk-refusal.ts";
import { engineLimits } from "../engine-limits.ts";
import type { EventSequence } from "../transcripts/event-sequence.ts";
import { transcriptPath } from "../transcripts/transcript.ts";
import { type ReservedPrompt, readReservedPrompt, removeReservedPrompt } from "./reserved-prompt.ts";

export const stoppedText = "The daemon stopped before this turn ended.";
const neverRanText =
  "The daemon stopped before this turn began. Send the prompt again if it is still wanted.";

const walkBounds = {
  maxLineBytes: engineLimits.transcriptLineBytes,
  maxScanBytes: engineLimits.transcriptScanBytes,
};

type LeftOpen =
  | { readonly kind: "permission" | "question"; readonly id: string }
  | { readonly kind: "call"; readonly id: string; readonly tool: string };

/** What the end of a transcript says of the turn that was open when the daemon died. */
interface TranscriptEnd {
  readonly lastSeq: number;
  /** The turn that began and did not end, with what it left open, in the order in which that began. */
  readonly open: { readonly turn: string; readonly left: readonly LeftOpen[] } | null;
  /** Turns that began after the reservation. */
  readonly begun: ReadonlySet<string>;
}

export interface RecoverOptions {
  readonly sessionsFolder: string;
  readonly sequence: EventSequence;
  readonly report: (problem: string) => void;
}

/**
 * Ends what a crash left open in an agent's transcript: the turn that was running, and one that was accepted as the
 * next, are `failed` with a sentence that says why. Once per agent and process, before anything else is written.
 */
export async function recoverAgent(agent: LiveAgent, options: RecoverOptions): Promise<void> {
  const { sessionsFolder } = options;
  const reserved = await orRefuse(readReservedPrompt(sessionsFolder, agent.id));
  if (typeof reserved === "string") options.report(`${reserved}; it was left as it is.`);
  const prompt = typeof reserved === "string" ? null : reserved;
  const end = await orRefuse(readEnd(transcriptPath(sessionsFolder, agent.id), prompt?.seq ?? null));
  options.sequence.raise(end.lastSeq);
  const bodies = [...endOpenTurn(end), ...(prompt && !end.begun.has(prompt.turn) ? neverRan(prompt) : [])];
  if (bodies.length > 0) {
    await orRefuse(options.sequence.ensure());
    await agent.transcript.record(bodies, { sync: true });
    await agent.transcript.release();
  }
  if (prompt) await orRefuse(removeReservedPrompt(sessionsFolder, agent.id));
}

/** True when the transcript, or the reservation, holds this turn. */
export async function turnWasAccepted(
  sessionsFolder: string,
  agent: string,
  turn: string,
  afterSeq: number,
): Promise<boolean> {
  const reserved = await readReservedPrompt(sessionsFolder, agent);
  if (reserved !== null && typeof reserved !== "string" && reserved.turn === turn) return true;
  return (await readEnd(transcriptPath(sessionsFolder, agent), afterSeq)).begun.has(turn);
}

async function readEnd(path: string, afterSeq: number | null): Promise<TranscriptEnd> {
  let lastSeq = 0;
  let open: TranscriptEnd["open"] = null;
  let decided = false;
  const begun = new Set<string>();
  const left: LeftOpen[] = [];
  const closed = new Set<unknown>();

  function leave(open: LeftOpen): void {
    if (!closed.has(open.id)) left.unshift(open);
  }

  function visit(record: JsonRecord): "stop" | "go_on" {
    const { type, seq, turn, request_id, call_id, tool } = record;
    if (typeof seq === "number" && Number.isSafeInteger(seq)) {
      lastSeq = Math.max(lastSeq, seq);
      if (decided && (afterSeq === null || seq <= afterSeq)) return "stop";
    }
    if (type === "turn_started" && typeof turn === "string") {
      begun.add(turn);
      if (!decided) open = { turn, left };
      decided = true;
    }
    if (type === "turn_finished") decided = true;
    if (decided) return "go_on";
    if (type === "permission_resolved" || type === "question_resolved") closed.add(request_id);
    if (type === "tool_finished") closed.add(call_id);
    if (typeof request_id === "string" && type === "permission_requested")
      leave({ kind: "permission", id: request_id });
    if (typeof request_id === "string" && type === "question_asked")
      leave({ kind: "question", id: request_id });
    if (typeof call_id === "string" && typeof tool === "string" && type === "tool_started")
      leave({ kind: "call", id: call_id, tool });
    return "go_on";
  }

  await walkJsonlBackwards(path, walkBounds, visit);
  return { lastSeq, open, begun };
}

function endOpenTurn(end: TranscriptEnd): AgentEventBody[] {
  if (!end.open) return [];
  return [
    // Requests before the calls that asked.
    ...end.open.left.toReversed().map(closing),
    { type: "turn_finished", turn: end.open.turn, outcome: "failed", error: stoppedText },
  ];
}

function closing(open: LeftOpen): AgentEventBody {
  switch (open.kind) {
    case "permission":
      return { type: "permission_resolved", request_id: open.id, allowed: false, decision: null, by: null };
    case "question":
      return { type: "question_resolved", request_id: open.id, cancelled: true, by: null };
    case "call":
      return {
        type: "tool_finished",
        call_id: open.id,
        tool: open.tool,
        output: "The daemon stopped before this call ended.",
        is_error: true,
        millis: 0,
      };
  }
}

function neverRan(prompt: ReservedPrompt): AgentEventBody[] {
  return [
    turnStarted(prompt.turn, prompt.request_id),
    {
      type: "user_message",
      turn: prompt.turn,
      text: prompt.text,
      attachments: prompt.attachments ?? [],
      by: prompt.by,
    },
    { type: "turn_finished", turn: prompt.turn, outcome: "failed", error: neverRanText },
  ];
}

/** The first record of a turn. */
export function turnStarted(turn: string, requestId: string | null): AgentEventBody {
  return { type: "turn_started", turn, ...(requestId === null ? {} : { request_id: requestId }) };
}
