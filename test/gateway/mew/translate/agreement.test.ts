import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createStreaming } from "../../../../src/engine/transcripts/streaming.ts";
import { historyOf } from "../../../../src/gateway/mew/translate/history.ts";
import { createVoice } from "../../../../src/gateway/mew/translate/voice.ts";
import { type AgentEvent, type AgentEventBody, deltaEventTypes } from "../../../../src/protocol/events.ts";
import type { MewMessage, MewPart } from "../../../../src/protocol/mew/values.ts";
import { createClientModel } from "./client-model.ts";
import {
  agent,
  asked,
  call,
  done,
  ended,
  envelopes,
  messageId,
  output,
  said,
  started,
  text,
  thought,
  turn,
} from "./events.ts";

type Step =
  | {
      readonly do: "message";
      readonly thoughts: string[];
      readonly pieces: string[];
      readonly streams: boolean;
    }
  | {
      readonly do: "call";
      readonly outputs: string[];
      readonly fails: boolean;
      readonly at: "now" | "inside";
    };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    do: fc.constant("message" as const),
    thoughts: fc.array(fc.string({ maxLength: 5 }), { maxLength: 2 }),
    pieces: fc.array(fc.string({ maxLength: 5 }), { maxLength: 3 }),
    streams: fc.boolean(),
  }),
  fc.record({
    do: fc.constant("call" as const),
    outputs: fc.array(fc.string({ maxLength: 5 }), { maxLength: 3 }),
    fails: fc.boolean(),
    at: fc.constantFrom("now" as const, "inside" as const),
  }),
);

/** The events of a turn; a call `inside` ends after the step behind it, so that calls overlap. */
function eventsOf(steps: readonly Step[], outcome: "done" | "cancelled"): AgentEvent[] {
  const bodies: AgentEventBody[] = [started, asked];
  const late: AgentEventBody[] = [];
  for (const [at, each] of steps.entries()) {
    const id = messageId(at);
    if (each.do === "message") {
      if (each.streams) {
        bodies.push(...each.thoughts.map((piece) => thought(id, piece)));
        bodies.push(...each.pieces.map((piece) => text(id, piece)));
      }
      bodies.push(said(id, each.pieces.join(""), each.thoughts.join("")));
    } else {
      bodies.push(call(id), ...each.outputs.map((piece) => output(id, piece)));
      const end = ended(id, each.outputs.join(""), each.fails);
      if (each.at === "now") bodies.push(end);
      else late.push(end);
    }
    if (late.length > 1) bodies.push(...late.splice(0));
  }
  bodies.push(...late, outcome === "done" ? done : { type: "turn_finished", turn, outcome });
  return envelopes(bodies);
}

const options = { agent, provider: "replay", model: null };
const recordsOf = (events: readonly AgentEvent[]) => events.filter(({ type }) => !deltaEventTypes.has(type));
const partsOf = (messages: readonly MewMessage[]): Record<string, MewPart> =>
  Object.fromEntries(
    messages.flatMap(({ role, parts }) => (role === "user" ? [] : parts)).map((part) => [part.id, part]),
  );

function historyAt(events: readonly AgentEvent[]): MewMessage[] {
  const streaming = createStreaming({ now: () => 0 });
  for (const event of events) streaming.take(event);
  return historyOf(recordsOf(events), { ...options, streaming: streaming.view(), isNewest: true }).map(
    ({ message }) => message,
  );
}

describe("what a client sees live and in the history", () => {
  const turns = fc.tuple(
    fc.array(step, { maxLength: 8 }),
    fc.constantFrom("done" as const, "cancelled" as const),
  );

  it("is the same at the end of the turn, part for part and id for id", () => {
    fc.assert(
      fc.property(turns, ([steps, outcome]) => {
        const events = eventsOf(steps, outcome);
        const voice = createVoice(agent);
        const client = createClientModel();
        for (const event of events) for (const message of voice.take(event)) client.apply(message);
        expect(Object.fromEntries(client.parts)).toEqual(partsOf(historyAt(events)));
      }),
    );
  });

  it("is the same for a client that attaches at any moment of the turn", () => {
    fc.assert(
      fc.property(turns, fc.nat(), ([steps, outcome], where) => {
        const events = eventsOf(steps, outcome);
        const cut = 1 + (where % events.length);
        const voice = createVoice(agent);
        for (const event of events.slice(0, cut)) voice.take(event);
        const client = createClientModel(
          historyAt(events.slice(0, cut)).filter(({ role }) => role !== "user"),
        );
        for (const event of events.slice(cut)) for (const message of voice.take(event)) client.apply(message);
        expect(Object.fromEntries(client.parts)).toEqual(partsOf(historyAt(events)));
      }),
      { numRuns: 300 },
    );
  });

  it("has one id for each part, over a whole conversation", () => {
    fc.assert(
      fc.property(turns, ([steps, outcome]) => {
        const parts = historyAt(eventsOf(steps, outcome)).flatMap((message) => message.parts);
        expect(new Set(parts.map(({ id }) => id)).size).toBe(parts.length);
      }),
    );
  });
});
