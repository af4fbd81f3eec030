import type { Change } from "../../../protocol/changes.ts";
import type { AgentEvent } from "../../../protocol/events.ts";
import { sessionIdOf, ulidOf } from "../../../protocol/mew/ids.ts";
import type { MewServerMessage, MewServerMessageOf } from "../../../protocol/mew/server-messages.ts";
import type { MewUsage } from "../../../protocol/mew/values.ts";
import type { SessionRow } from "../../../protocol/rest-objects.ts";
import { createDelivery, type MewAudience, type MewDelivery } from "./delivery.ts";
import { type Child, createFamily } from "./family.ts";
import { createKnownMarks, marksOf } from "./known-marks.ts";
import type { EventOf } from "./parts.ts";
import { createAttention, type OpenCounts, permissionMessages, questionMessage } from "./requests.ts";
import { addUsage, countTurn, createSessionBook } from "./session-book.ts";
import { jobState, modelFields, modeName, todosMessages } from "./values.ts";

/**
 * Turns the engine's changes into mew messages. One for all connections, fed with every change from the daemon's start
 * on, so that it knows each turn from its beginning, whoever attaches in the middle of it.
 *
 * `take` gives what a change means to whom; a message is encoded when the first connection of a spelling takes its
 * `frame`. What has no message in the dialect gives none.
 */
export interface MewTranslator {
  take(change: Change): readonly MewDelivery[];
  /** Of a running subagent; null for an agent at the top. */
  childOf(agent: string): Child | null;
  /** The agent whose session hears of this one. */
  topOf(agent: string): string;
  /** Open requests of a session, those of its subagents too. */
  openCounts(agent: string): OpenCounts;
  /** What the session's turns have used since the daemon's start; null when nothing is known. */
  usageOf(agent: string): MewUsage | null;
  /** True after a turn that failed or was cancelled, until the next has ended. */
  lastTurnFailed(agent: string): boolean;
  /** The newest list of what is to do since the daemon's start, or since the context was cleared; null without one. */
  todosOf(agent: string): EventOf<"todos">["todos"] | null;
  /** Takes in a session's row as it was read: what changes of it later is told, and nothing else. */
  learn(row: SessionRow): void;
}

const titleChars = 200;

/** `take` must get every change, in order. */
export function createTranslator(): MewTranslator {
  const family = createFamily();
  const attention = createAttention();
  const sessions = createSessionBook();
  const marks = createKnownMarks();
  let out: MewDelivery[] = [];

  function tell(agent: string, message: MewServerMessage): void {
    out.push(createDelivery({ to: "session", agent }, message));
  }
  function tellAll(message: MewServerMessage): void {
    out.push(createDelivery({ to: "all" }, message));
  }
  function tellAttention(agent: string): void {
    const { permissions, questions } = attention.of(agent);
    tellAll({
      type: "session_attention_changed",
      session_id: sessionIdOf(agent),
      pending_permissions: permissions,
      pending_questions: questions,
    });
  }
  function tellAlert(
    agent: string,
    kind: MewServerMessageOf<"session_alert">["kind"],
    detail?: string,
  ): void {
    const session = sessions.peek(agent);
    const title = session?.row?.title ?? session?.row?.label ?? session?.prompt ?? "";
    tellAll({
      type: "session_alert",
      session_id: sessionIdOf(agent),
      title,
      kind,
      ...(detail === undefined ? {} : { detail }),
    });
  }

  function askPermission(event: EventOf<"permission_requested">): void {
    const { agent } = event;
    const child = agent === null ? null : family.childOf(agent);
    const top = agent === null ? null : family.topOf(agent);
    // One that no agent made is a client's wish to start a job: whoever works in that tab may answer.
    const audience: MewAudience =
      top === null ? { to: "tab", tab: event.tab } : { to: "session", agent: top };
    const { camel, snake } = permissionMessages(event, child);
    if (camel === snake) out.push(createDelivery(audience, camel));
    else out.push(createDelivery(audience, camel, "camel"), createDelivery(audience, snake, "snake"));
    if (top === null) return;
    attention.open("permissions", top, event.request_id);
    tellAlert(top, "permission_needed", event.tool);
    tellAttention(top);
  }

  function resolved(requestId: string, audience: MewAudience): void {
    out.push(createDelivery(audience, { type: "request_resolved", request_id: ulidOf(requestId) }));
    const agent = attention.close(requestId);
    if (agent !== null) tellAttention(agent);
  }

  function endTurn(agent: string, event: EventOf<"turn_finished">): void {
    const session = sessions.of(agent);
    const usage = countTurn(session, event);
    const session_id = sessionIdOf(agent);
    tellAll({ type: "session_activity_changed", session_id, activity: "idle" });
    tellAll({
      type: "session_usage_changed",
      session_id,
      usage,
      ...(session.contextTokens === null ? {} : { context_tokens: session.contextTokens }),
    });
    tellAlert(agent, session.failed ? "turn_failed" : "turn_complete");
  }

  /** What an event of the agent at the top means beside its stream. */
  function takeOwn(agent: string, event: AgentEvent): void {
    const session = sessions.of(agent);
    switch (event.type) {
      case "turn_started":
        tellAll({ type: "session_activity_changed", session_id: sessionIdOf(agent), activity: "running" });
        break;
      case "user_message":
        session.prompt = (event.text.trim().split("\n", 1)[0] ?? "").slice(0, titleChars);
        tell(agent, { type: "user_message", text: event.text });
        break;
      case "todos": {
        session.todos = event.todos;
        const audience: MewAudience = { to: "session", agent };
        const { camel, snake } = todosMessages(event.todos);
        out.push(createDelivery(audience, camel, "camel"), createDelivery(audience, snake, "snake"));
        break;
      }
      case "usage":
        addUsage(session, event);
        break;
      case "model_changed": {
        const { model = "", provider } = modelFields(session.row?.runtime ?? "", event.model);
        tell(agent, { type: "model_switched", provider, model });
        break;
      }
      case "thinking_changed":
        tell(agent, { type: "thinking_variant_changed", variant: event.thinking });
        break;
      case "cleared":
        session.todos = null;
        tell(agent, { type: "session_cleared" });
        break;
      case "turn_finished":
        endTurn(agent, event);
        break;
      default:
    }
  }

  function takeEvent(event: AgentEvent, tab: string | null): void {
    const { agent } = event;
    if (event.type === "permission_requested") {
      askPermission(event);
      return;
    }
    if (event.type === "permission_resolved" || event.type === "question_resolved") {
      const nowhere: MewAudience = tab === null ? { to: "all" } : { to: "tab", tab };
      resolved(event.request_id, agent === null ? nowhere : { to: "session", agent: family.topOf(agent) });
      return;
    }
    if (agent === null) return;
    if (event.type === "question_asked") {
      const top = family.topOf(agent);
      tell(top, questionMessage(event));
      attention.open("questions", top, event.request_id);
      tellAlert(top, "input_needed", event.questions[0]?.prompt.slice(0, titleChars));
      tellAttention(top);
      return;
    }
    const child = event.type === "agent_started" ? family.begin(agent, event) : family.childOf(agent);
    if (child) {
      for (const message of family.take(child, event)) tell(child.top, message);
      return;
    }
    if (event.type === "title") {
      // Also of a session that is on no tab: nothing else is to be known of it.
      tellAll({ type: "session_title_changed", session_id: sessionIdOf(agent), title: event.title });
      return;
    }
    const before = event.type === "user_message" || event.type === "turn_started";
    if (before) takeOwn(agent, event);
    for (const message of sessions.of(agent).voice.take(event)) tell(agent, message);
    if (!before) takeOwn(agent, event);
  }

  function takeOne(change: Change): void {
    switch (change.type) {
      case "event":
        takeEvent(change.event, change.tab);
        break;
      case "agent_updated":
        if (change.agent.state === "closed") sessions.forget(change.agent.id);
        else if (change.agent.parent === null) sessions.of(change.agent.id).row = change.agent;
        break;
      case "tab_closed":
        sessions.forgetTab(change.tab);
        break;
      case "session_deleted":
        sessions.forget(change.session);
        marks.forget(change.session);
        break;
      case "job_started":
      case "job_finished": {
        const { agent, tab } = change.job;
        const audience: MewAudience | null =
          agent !== null
            ? { to: "session", agent: family.topOf(agent) }
            : tab !== null
              ? { to: "tab", tab }
              : null;
        if (!audience) break;
        out.push(
          createDelivery(audience, {
            type: "job_update",
            job_id: change.job.id,
            command: change.job.command,
            state: jobState(change.job.state),
          }),
        );
        break;
      }
      case "session_updated": {
        const { id } = change.session;
        const now = marksOf(change.session);
        // Also of a new title: that was told by its event.
        if (marks.take(id, now))
          tellAll({ type: "session_meta_changed", session_id: sessionIdOf(id), ...now });
        break;
      }
      case "mode":
        out.push(
          createDelivery(
            { to: "tab", tab: change.tab },
            { type: "permission_mode_changed", mode: modeName(change.mode) },
          ),
        );
        break;
      default:
    }
  }

  return {
    take(change) {
      out = [];
      takeOne(change);
      return out;
    },
    childOf: family.childOf,
    topOf: family.topOf,
    openCounts: attention.of,
    usageOf: (agent) => sessions.peek(agent)?.usage ?? null,
    lastTurnFailed: (agent) => sessions.peek(agent)?.failed ?? false,
    todosOf: (agent) => sessions.peek(agent)?.todos ?? null,
    learn: (row) => marks.learn(row.id, marksOf(row)),
  };
}
