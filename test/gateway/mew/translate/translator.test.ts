import { Check } from "typebox/value";
import { describe, expect, it } from "vitest";
import type { MewDelivery } from "../../../../src/gateway/mew/translate/delivery.ts";
import { createTranslator } from "../../../../src/gateway/mew/translate/translator.ts";
import type { Change } from "../../../../src/protocol/changes.ts";
import type { AgentEvent, AgentEventBody } from "../../../../src/protocol/events.ts";
import { sessionIdOf, ulidOf } from "../../../../src/protocol/mew/ids.ts";
import { mewServerSchemas } from "../../../../src/protocol/mew/server-messages.ts";
import type { MewSpelling } from "../../../../src/protocol/mew/spelling.ts";
import type { Agent, Job, PermissionRequest, Question } from "../../../../src/protocol/objects.ts";
import {
  agent,
  asChange,
  asked,
  call,
  child,
  done,
  ended,
  envelopes,
  messageId,
  said,
  started,
  tab,
  text,
  turn,
  usage,
} from "./events.ts";

const session_id = sessionIdOf(agent);
const requestId = messageId(0xe1);

const permission: PermissionRequest = {
  request_id: requestId,
  workspace: "w",
  tab,
  agent,
  turn,
  call_id: "c1",
  tool: "bash",
  summary: "ls",
  input: { command: "ls" },
  cwd: "/srv",
  allow_session: "bash(ls)",
  digest: "d",
  at: "2026-01-01T00:00:00.000Z",
};
const question: Question = {
  request_id: requestId,
  workspace: "w",
  tab,
  agent,
  turn,
  call_id: null,
  subagent: null,
  questions: [{ prompt: "Which store?", options: [{ label: "sqlite", description: null }], multiple: false }],
  at: "2026-01-01T00:00:00.000Z",
};
const row: Agent = {
  id: agent,
  tab,
  parent: null,
  label: "do it",
  title: null,
  runtime: "acp",
  model: null,
  state: "running",
  live: true,
  turn,
  queued: false,
  updated: "2026-01-01T00:00:00.000Z",
};
const job: Job = {
  id: "3fa9c210",
  workspace: "w",
  tab,
  agent,
  command: "npm test",
  cwd: "/srv",
  pid: 1,
  state: "running",
  exit_code: null,
  reason: null,
  started: "2026-01-01T00:00:00.000Z",
  ended: null,
  bytes: 0,
};

const events = (bodies: readonly AgentEventBody[], of = agent): Change[] =>
  envelopes(bodies, of).map(asChange);
const childStarted: AgentEventBody = {
  type: "agent_started",
  label: "reviewer",
  parent: agent,
  runtime: "acp",
  model: null,
  cwd: "/srv",
  call_id: "c2",
};

function take(changes: readonly Change[], translator = createTranslator()): MewDelivery[] {
  return changes.flatMap((change) => [...translator.take(change)]);
}
/** What a client in a spelling that is attached to the session, in its tab, is sent. */
function sent(deliveries: readonly MewDelivery[], spelling: MewSpelling) {
  return deliveries.filter((delivery) => delivery.frame(spelling) !== null).map(({ message }) => message);
}
const types = (deliveries: readonly MewDelivery[], spelling: MewSpelling): string[] =>
  sent(deliveries, spelling).map((message) =>
    message.type === "provider" ? message.event.type : message.type,
  );

describe("what a change means to mew clients", () => {
  it.each<[string, Change[], string, string]>([
    ["a turn's beginning", events([started]), "", "session_activity_changed"],
    ["a prompt", events([asked]), "", "user_message"],
    ["a piece of text", events([text(messageId(1), "a")]), "part_start part_delta", "part_start part_delta"],
    [
      "a turn's end",
      events([done]),
      "message_end",
      "message_end session_activity_changed session_usage_changed session_alert",
    ],
    [
      "a failed turn's end",
      events([{ type: "turn_finished", turn, outcome: "failed", error: "x" }]),
      "error_event",
      "error_event session_activity_changed session_usage_changed session_alert",
    ],
    [
      "a permission request",
      events([{ type: "permission_requested", ...permission }]),
      "permission_request",
      "permission_request session_alert session_attention_changed",
    ],
    [
      "a question",
      events([{ type: "question_asked", ...question }]),
      "ask_user_request",
      "ask_user_request session_alert session_attention_changed",
    ],
    [
      "an answer to what was asked",
      events([
        { type: "question_asked", ...question },
        { type: "question_resolved", request_id: requestId, cancelled: false, by: null },
      ]),
      "ask_user_request request_resolved",
      "ask_user_request session_alert session_attention_changed request_resolved session_attention_changed",
    ],
    [
      "todos",
      events([{ type: "todos", todos: [{ id: "1", content: "a", status: "completed" }] }]),
      "todos_updated",
      "todos_updated",
    ],
    ["usage alone", events([usage(5)]), "", ""],
    ["a title", events([{ type: "title", title: "t" }]), "session_title_changed", "session_title_changed"],
    ["another model", events([{ type: "model_changed", model: "m" }]), "model_switched", "model_switched"],
    [
      "another level of thinking",
      events([{ type: "thinking_changed", thinking: "high" }]),
      "thinking_variant_changed",
      "thinking_variant_changed",
    ],
    ["a cleared context", events([{ type: "cleared" }]), "session_cleared", "session_cleared"],
    ["a notice", events([{ type: "notice", message: "n" }]), "", ""],
    ["a job", [{ type: "job_started", rev: 1, job }], "job_update", "job_update"],
    ["another mode", [{ type: "mode", rev: 1, tab, mode: "edits" }], "", "permission_mode_changed"],
    ["a new agent", events([{ ...childStarted, parent: null } as AgentEventBody]), "", ""],
    ["what concerns no session", [{ type: "clients", rev: 1, count: 2 }], "", ""],
    ["a shutdown", [{ type: "shutdown", rev: 1, restart: false }], "", ""],
    [
      "a subagent, whose own words stay its own",
      events(
        [
          childStarted,
          started,
          asked,
          said(messageId(1), "x"),
          call("c9"),
          ended("c9", ""),
          done,
          { type: "agent_finished", outcome: "done" },
        ],
        child,
      ),
      "subagent_start subagent_status subagent_end",
      "subagent_start subagent_status subagent_end",
    ],
  ])("tells of %s", (_, changes, camel, snake) => {
    const deliveries = take(changes);
    expect(types(deliveries, "camel").join(" ")).toBe(camel);
    expect(types(deliveries, "snake").join(" ")).toBe(snake);
    for (const { message } of deliveries)
      expect([message, Check(mewServerSchemas[message.type], message)]).toEqual([message, true]);
  });

  it("sends what belongs to a session to its clients, and what a list shows to all", () => {
    const translator = createTranslator();
    translator.take({ type: "agent_updated", rev: 1, agent: row });
    const audiences = take(
      [...events([started, text(messageId(1), "a"), done]), { type: "mode", rev: 9, tab, mode: "ask" }],
      translator,
    ).map(({ audience, message }) => [message.type, audience.to]);
    expect(audiences).toEqual([
      ["session_activity_changed", "all"],
      ["provider", "session"],
      ["provider", "session"],
      ["provider", "session"],
      ["provider", "session"],
      ["session_activity_changed", "all"],
      ["session_usage_changed", "all"],
      ["session_alert", "all"],
      ["permission_mode_changed", "tab"],
    ]);
  });

  it("writes ids as the dialect does", () => {
    const [request] = sent(take(events([{ type: "question_asked", ...question }])), "snake");
    expect(request).toEqual({
      type: "ask_user_request",
      request_id: ulidOf(requestId),
      call_id: "",
      questions: [{ prompt: "Which store?", options: [{ label: "sqlite", description: "" }] }],
    });
  });

  it("asks the clients of the session for its subagents, and says who asks", () => {
    const translator = createTranslator();
    take(events([childStarted], child), translator);
    const asks = take(
      events(
        [
          { type: "permission_requested", ...permission, agent: child },
          {
            type: "question_asked",
            ...question,
            request_id: messageId(0xe2),
            agent: child,
            subagent: "reviewer",
          },
        ],
        child,
      ),
      translator,
    );
    for (const { audience } of asks.filter(({ message }) => message.type !== "session_alert"))
      expect(audience).toEqual(audience.to === "all" ? { to: "all" } : { to: "session", agent });
    expect(sent(asks, "camel")).toMatchObject([
      { type: "permission_request", request_id: ulidOf(requestId) },
      { type: "ask_user_request", subagent: "reviewer" },
    ]);
    expect(sent(asks, "snake")[0]).toMatchObject({
      type: "subagent_permission_request",
      parent_call_id: "c2",
    });
    expect(translator.openCounts(agent)).toEqual({ permissions: 1, questions: 1 });
    expect(translator.openCounts(child)).toEqual({ permissions: 0, questions: 0 });
    expect(translator.topOf(child)).toBe(agent);
    expect(translator.childOf(child)).toMatchObject({ top: agent, name: "reviewer", parentCallId: "c2" });
    // Cancelling the child's question leaves the rest of its parent pending.
    take(
      events([{ type: "question_resolved", request_id: messageId(0xe2), cancelled: true, by: null }], child),
      translator,
    );
    expect(translator.openCounts(agent)).toEqual({ permissions: 1, questions: 0 });
  });

  it("says how a subagent ended, and forgets it", () => {
    const translator = createTranslator();
    take(events([childStarted], child), translator);
    const grandchild = messageId(0xd1);
    take(
      events([{ ...childStarted, parent: child, call_id: null } as AgentEventBody], grandchild),
      translator,
    );
    expect(translator.topOf(grandchild)).toBe(agent);
    const failed: AgentEventBody = { type: "turn_finished", turn, outcome: "failed", error: "gone" };
    const ends = take(
      [
        ...events([failed, { type: "agent_finished", outcome: "failed" }], grandchild),
        ...events(
          [
            { type: "turn_finished", turn, outcome: "cancelled" },
            { type: "agent_finished", outcome: "cancelled" },
          ],
          child,
        ),
      ],
      translator,
    );
    expect(ends.map(({ audience, message }) => [audience, message])).toMatchObject([
      [
        { to: "session", agent },
        { parent_call_id: ulidOf(grandchild), outcome: { failed: { reason: "gone" } } },
      ],
      [
        { to: "session", agent },
        { parent_call_id: "c2", child_session_id: ulidOf(child), outcome: "cancelled" },
      ],
    ]);
    expect(translator.topOf(grandchild)).toBe(grandchild);
    expect(translator.childOf(child)).toBeNull();
  });

  it("asks everybody in the tab about a job that a device without approve wants", () => {
    const [delivery] = take(
      envelopes([{ type: "permission_requested", ...permission, turn: null, call_id: null }]).map((event) =>
        asChange({ ...event, agent: null } as AgentEvent),
      ),
    );
    expect(delivery?.audience).toEqual({ to: "tab", tab });
    expect(delivery?.message).toMatchObject({ type: "permission_request", tool_name: "bash" });
  });

  it("sends a client's job to its tab, an agent's to its session, with the dialect's states", () => {
    const changes: Change[] = [
      { type: "job_started", rev: 1, job },
      { type: "job_started", rev: 2, job: { ...job, agent: null } },
      { type: "job_finished", rev: 3, job: { ...job, agent: null, tab: null } },
      ...(["exited", "killed", "failed", "lost"] as const).map(
        (state): Change => ({ type: "job_finished", rev: 4, job: { ...job, state } }),
      ),
    ];
    expect(
      take(changes).map(({ audience, message }) => [audience.to, "state" in message && message.state]),
    ).toEqual([
      ["session", "running"],
      ["tab", "running"],
      ["session", "completed"],
      ["session", "cancelled"],
      ["session", "failed"],
      ["session", "failed"],
    ]);
  });

  it("calls a finished todo done where real clients look for that, and gives numbers for ids", () => {
    const todos = [
      { id: "a", content: "x", status: "completed" },
      { id: "b", content: "y", status: "in_progress" },
    ];
    const deliveries = take(events([{ type: "todos", todos }]));
    expect(sent(deliveries, "camel")).toEqual([
      {
        type: "todos_updated",
        todos: [
          { id: 1, content: "x", status: "completed", depends_on: [] },
          { id: 2, content: "y", status: "in_progress", depends_on: [] },
        ],
      },
    ]);
    expect(JSON.stringify(sent(deliveries, "snake"))).toContain('"done"');
  });

  it("sums up what a session used, and remembers whether its last turn failed", () => {
    const translator = createTranslator();
    const failed: AgentEventBody = { type: "turn_finished", turn, outcome: "failed" };
    take(events([started, usage(100, 0.5), failed, started, usage(50)]), translator);
    expect(translator.lastTurnFailed(agent)).toBe(true);
    const ends = take(events([done]), translator);
    expect(translator.lastTurnFailed(agent)).toBe(false);
    expect(sent(ends, "snake").find(({ type }) => type === "session_usage_changed")).toMatchObject({
      session_id,
      usage: { input_tokens: 150, output_tokens: 20, cost: 0.5, turns: 2 },
    });
    expect(translator.usageOf(agent)).toMatchObject({ turns: 2 });
    expect(translator.usageOf(child)).toBeNull();
  });

  it("keeps a subagent's title to itself", () => {
    const translator = createTranslator();
    take(events([childStarted], child), translator);
    expect(take(events([{ type: "title", title: "t" }], child), translator)).toEqual([]);
  });

  it("titles an alert by title, label or prompt, whichever it knows", () => {
    const alertOf = (changes: readonly Change[]): unknown =>
      sent(take([...changes, ...events([done])]), "snake").find(({ type }) => type === "session_alert");
    expect(alertOf([])).toMatchObject({ title: "", kind: "turn_complete" });
    expect(alertOf(events([asked]))).toMatchObject({ title: "do it" });
    expect(alertOf([{ type: "agent_updated", rev: 1, agent: { ...row, title: "T" } }])).toMatchObject({
      title: "T",
    });
  });

  it("names the runtime as the provider of a model", () => {
    const changes: Change[] = [
      { type: "agent_updated", rev: 1, agent: row },
      ...events([{ type: "model_changed", model: "m" }]),
    ];
    expect(sent(take(changes), "camel")).toEqual([{ type: "model_switched", provider: "acp", model: "m" }]);
  });

  it("tells lists of other marks on a session, not of the same ones when something else about it is new", () => {
    const translator = createTranslator();
    const updated = (marks: object): unknown =>
      sent(
        take([{ type: "session_updated", rev: 1, session: { id: agent, ...marks } as never }], translator),
        "snake",
      );
    const pinned = { type: "session_meta_changed", session_id, archived: false, pinned: true };
    expect(updated({ pinned: true, archived: false })).toEqual([pinned]);
    expect(updated({ pinned: true, title: "new" })).toEqual([]);
    expect(updated({ pinned: true, archived: true })).toEqual([{ ...pinned, archived: true }]);
    translator.learn({ id: agent, pinned: false } as never);
    expect(updated({ pinned: true, archived: true })).toEqual([]);
    translator.learn({ id: child, pinned: true } as never);
    expect(updated({ id: child, pinned: true, title: "new" })).toEqual([]);
    expect(updated({ id: child })).toEqual([{ ...pinned, session_id: sessionIdOf(child), pinned: false }]);
  });

  it("remembers what is to do until the context is cleared", () => {
    const translator = createTranslator();
    const todos = [{ id: "1", content: "look", status: "pending" }];
    expect(translator.todosOf(agent)).toBeNull();
    take(events([{ type: "todos", todos } as AgentEventBody]), translator);
    expect(translator.todosOf(agent)).toEqual(todos);
    take(events([{ type: "cleared" } as AgentEventBody]), translator);
    expect(translator.todosOf(agent)).toBeNull();
  });

  it.each<[string, Change]>([
    ["was closed", { type: "agent_updated", rev: 9, agent: { ...row, state: "closed" } }],
    ["went with its tab", { type: "tab_closed", rev: 9, tab }],
    ["was deleted", { type: "session_deleted", rev: 9, session: agent }],
  ])("forgets an agent that %s", (_, change) => {
    const translator = createTranslator();
    take([{ type: "agent_updated", rev: 1, agent: row }, ...events([started, usage(100), done])], translator);
    expect(translator.usageOf(agent)).not.toBeNull();
    take([change], translator);
    expect(translator.usageOf(agent)).toBeNull();
  });
});

describe("a delivery", () => {
  it("is encoded once for each spelling, and the same bytes are given to every client", () => {
    const [start] = take(events([text(messageId(1), "a")]));
    if (!start) throw new Error("nothing was delivered");
    expect(start.frame("camel")).toBe(start.frame("camel"));
    expect(start.frame("snake")).toBe(start.frame("snake"));
    expect(start.frame("camel")?.toString("utf8")).toContain(
      '{"type":"Provider","event":{"type":"PartStart"',
    );
    expect(start.frame("snake")?.toString("utf8")).toContain(
      '{"type":"provider","event":{"type":"part_start"',
    );
  });
});
