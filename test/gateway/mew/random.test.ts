import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { newId } from "../../../src/lib/ids.ts";
import {
  type MewClientMessage,
  type MewClientType,
  mewClientDefaults,
  mewClientSchemas,
} from "../../../src/protocol/mew/client-messages.ts";
import { decodeServerText, encodeClientMessage } from "../../../src/protocol/mew/codec.ts";
import { sessionIdOf, ulidOf } from "../../../src/protocol/mew/ids.ts";
import { isSentIn } from "../../../src/protocol/mew/server-messages.ts";
import type { Message } from "../../helpers/socket.ts";
import { type MewApp, startMew } from "./harness.ts";

const script = [
  { type: "text_delta", text: "so " },
  { type: "todos", todos: [{ id: "1", content: "look", status: "completed" }] },
  { type: "agent_started", agent: "helper", text: "help" },
  { type: "tool_started", agent: "helper", call: "c", tool: "bash", input: { command: "ls" } },
  { type: "tool_finished", agent: "helper", call: "c", output: "ok" },
  { type: "agent_finished", agent: "helper" },
  { type: "question_asked", id: "q", questions: [{ prompt: "Which?" }] },
  { type: "usage", input_tokens: 5, output_tokens: 7, context_tokens: 12 },
  { type: "assistant_message", text: "{answer:q}" },
];

let app: MewApp;
let clockMs: number;
beforeEach(async () => {
  clockMs = 0;
  // Time goes fast enough for nobody to be over the rate, or to have sent too much nonsense.
  app = await startMew({ scripts: { talk: script }, now: () => (clockMs += 4_000) });
  app.graceSeconds = 0;
});
afterEach(() => app.close());

const types = Object.keys(mewClientSchemas) as MewClientType[];
const texts = ["hello", "", "/clear", "/compact", "/help", "/title x", "high", "off", "talk", "standard"];

/** A message of a type, made of what there is at the moment and of what there is not. */
function messageOf(type: MewClientType, n: number, m: number): Message {
  const { pending, questions, workspace } = app.engine.snapshot();
  const agents = workspace.tabs.flatMap((tab) => tab.agents.map(({ id }) => id));
  const pick = <T>(list: readonly T[], or: T): T => list[n % (list.length + 1)] ?? or;
  const requests = [...pending, ...questions].map(({ request_id }) => ulidOf(request_id));
  const values: Record<string, unknown> = {
    session_id: pick(agents.map(sessionIdOf), newId()),
    request_id: type.endsWith("response") ? pick(requests, ulidOf(newId())) : `k${m % 5}`,
    job_id: "3fa9c210",
    text: texts[m % texts.length],
    command: texts[n % texts.length],
    variant: texts[m % texts.length],
    mode: texts[n % texts.length],
    title: texts[m % texts.length],
    provider: "replay",
    model: n % 2 === 0 ? "talk" : "none",
    offset: n - 5,
    before: n * 100,
    limit: m,
    decision: ["allow_once", "allow_session", "deny"][m % 3],
    answers: Array.from({ length: n % 3 }, () => "a"),
    cancelled: m % 4 === 0,
    archived: n % 2 === 0,
    pinned: m % 2 === 0,
    enabled: m % 2 === 0,
    path: ["", ".", "..", "/etc", "none"][n % 5],
    ...(m % 7 === 0 ? { cwd: ["/none", app.fixture.project][n % 2] } : {}),
  };
  const known = Object.keys(mewClientSchemas[type].properties).filter((field) =>
    Object.hasOwn(values, field),
  );
  const fields = Object.fromEntries(known.map((field) => [field, values[field]]));
  return { ...mewClientDefaults[type], ...fields, type };
}

describe("random messages of four clients in both spellings, and a native one", () => {
  it("are all survived: what is sent is well-formed, nothing fails unexpectedly, everybody is answered", async () => {
    const step = fc.record({
      type: fc.constantFrom(...types),
      client: fc.nat(3),
      n: fc.nat(20),
      m: fc.nat(20),
      reopen: fc.nat(40).map((value) => value === 0),
    });
    const spellings = ["camel", "snake", "camel", "snake"] as const;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 30, maxLength: 60 }), async (steps) => {
        const raw: [string, "camel" | "snake"][] = [];
        const open = async (client: number) => {
          const spelling = spellings[client] ?? "camel";
          const socket = await app.mew(spelling);
          socket.ws.on("message", (data) => raw.push([String(data), spelling]));
          await socket.settle();
          return socket;
        };
        const clients = await Promise.all([0, 1, 2, 3].map(open));
        const native = await app.native();
        for (const { type, client, n, m, reopen } of steps) {
          if (reopen) {
            await clients[client]?.cut();
            clients[client] = await open(client);
          }
          const message = messageOf(type, n, m) as MewClientMessage;
          clients[client]?.send(encodeClientMessage(message, spellings[client] ?? "camel"));
          if (n % 4 === 0) await clients[client]?.settle();
        }
        for (const socket of clients) await socket.settle();
        expect(await native.command({ type: "ping" })).toMatchObject({ type: "pong" });
        for (const socket of clients) await socket.close();
        await native.close();
        for (const [text, spelling] of raw) {
          const decoded = decodeServerText(text);
          if (!decoded) expect(text).toBe("a message of the dialect");
          else {
            expect([text, decoded.spelling]).toEqual([text, spelling]);
            expect([text, isSentIn(decoded.message.type, spelling)]).toEqual([text, true]);
          }
        }
        expect(app.logged.filter(({ level }) => level === "error")).toEqual([]);
      }),
      { numRuns: 12 },
    );
  });
});
