import { sessionIdOf } from "../../protocol/mew/ids.ts";
import type { MewServerMessage } from "../../protocol/mew/server-messages.ts";
import type { Agent, Tab } from "../../protocol/objects.ts";
import type { SessionRow } from "../../protocol/rest-objects.ts";
import type { MewSession } from "./attachment.ts";
import { modelFields, modeName } from "./translate/values.ts";

export function createLiveSession(row: SessionRow): MewSession {
  return {
    agent: row.id,
    tab: row.tab,
    cwd: row.cwd,
    mode: "ask",
    runtime: row.runtime ?? "shell",
    model: row.model,
    thinking: null,
    title: row.title,
    turn: null,
    queued: false,
    legacyTurn: null,
    untitled: null,
    clients: new Map(),
    nextClientId: 1,
    stopGrace: null,
    unloads: false,
  };
}

export function takeAgent(session: MewSession, agent: Agent): void {
  session.tab = agent.state === "closed" ? null : agent.tab;
  session.runtime = agent.runtime;
  session.model = agent.model;
  session.thinking = agent.thinking ?? null;
  session.title = agent.title;
  session.turn = agent.turn;
  session.queued = agent.queued;
}

export function takeTab(session: MewSession, tab: Tab): void {
  session.cwd = tab.cwd;
  session.mode = tab.mode;
}

export function readyMessage(session: MewSession): MewServerMessage {
  return {
    type: "session_ready",
    session_id: sessionIdOf(session.agent),
    ...modelFields(session.runtime, session.model),
    ...(session.cwd === null ? {} : { cwd: session.cwd }),
    permission_mode: modeName(session.mode),
  };
}
