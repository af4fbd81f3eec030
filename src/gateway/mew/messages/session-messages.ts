import { SallyportError } from "../../../errors.ts";
import { sessionIdOf } from "../../../protocol/mew/ids.ts";
import type { MewServerMessage } from "../../../protocol/mew/server-messages.ts";
import type { SessionRow } from "../../../protocol/rest-objects.ts";
import type { MewContext, MewHandlers } from "../message-table.ts";
import { type HowToShow, readPage, showSession } from "../show-session.ts";
import { pageMessages } from "../translate/history-page.ts";
import { areSameMarks, marksOf } from "../translate/known-marks.ts";
import { sessionInfo } from "../translate/lists.ts";
import { agentOf, attached, noSession } from "./find-session.ts";

type SessionMessages = Pick<
  MewHandlers,
  | "new_session"
  | "attach_session"
  | "list_sessions"
  | "list_projects"
  | "load_session_history"
  | "rename_session"
  | "regenerate_title"
  | "pin_session"
  | "archive_session"
  | "delete_session"
>;

/** The list is one message; what is older can still be attached by its id. */
const maxListed = 10_000;

async function attach(context: MewContext, row: SessionRow, isNew: boolean): Promise<void> {
  const { client, hub } = context;
  const isAgain = client.session?.agent === row.id;
  const session = hub.join(client, row);
  const how: HowToShow = { ready: true, isNew };
  try {
    await showSession(client, session, context, how);
  } catch (error) {
    hub.leave(client);
    throw error;
  }
  if (!isAgain) hub.welcome(client);
}

async function rowOf(context: MewContext, rawSessionId: string): Promise<SessionRow> {
  try {
    const row = await context.engine.sessions.get(agentOf(rawSessionId));
    context.hub.translator.learn(row);
    return row;
  } catch (error) {
    if (error instanceof SallyportError && error.code === "not_found") throw noSession();
    throw error;
  }
}

/** Clients with a session hear of it as all others do; one without is answered. */
function tellUnattached({ client }: MewContext, message: MewServerMessage): void {
  if (client.session === null) client.send(message);
}

async function mark(
  context: MewContext,
  rawSessionId: string,
  marks: { readonly pinned: boolean } | { readonly archived: boolean },
): Promise<void> {
  const { client, engine } = context;
  const row = await rowOf(context, rawSessionId);
  const after = await engine.sessions.update(
    { type: "session_update", session: row.id, ...marks },
    client.actor,
  );
  // Where nothing changed, nobody was told.
  if (client.session === null || areSameMarks(marksOf(row), marksOf(after)))
    client.send({ type: "session_meta_changed", session_id: sessionIdOf(row.id), ...marksOf(after) });
}

/** Sessions: making, attaching, listing and naming them. */
export const sessionMessages: SessionMessages = {
  async new_session(message, context) {
    const { client, engine } = context;
    client.kind = message.client_kind;
    const { tab } = await engine.places.launch(
      { type: "launch", workspace: "last", ...(message.cwd === undefined ? {} : { cwd: message.cwd }) },
      client.actor,
    );
    const agent = await engine.startAgent({ type: "agent_start", tab }, client.actor);
    await attach(context, await engine.sessions.get(agent.id), true);
  },
  async attach_session(message, context) {
    const row = await rowOf(context, message.session_id);
    if (row.parent !== null)
      throw new SallyportError("not_supported", "cannot attach to subagent session: attach its parent's.");
    context.client.kind = message.client_kind;
    await attach(context, row, false);
  },
  async list_sessions(_message, { client, engine, hub, fewReads }) {
    await fewReads(async () => {
      if (!client.connection.open) return;
      const sessions = await engine.sessions.list(maxListed);
      client.send({
        type: "session_list",
        sessions: sessions.map((row) =>
          sessionInfo(row, {
            clients: hub.find(row.id)?.clients.size ?? 0,
            open: hub.translator.openCounts(row.id),
            lastTurnFailed: hub.translator.lastTurnFailed(row.id),
            usage: hub.translator.usageOf(row.id),
          }),
        ),
      });
    });
    // Real clients wait for both.
    client.send({ type: "group_list", groups: [] });
  },
  async list_projects(_message, { client, engine }) {
    const projects = await engine.sessions.projects();
    client.send({
      type: "project_list",
      projects: projects.map(({ cwd, sessions, usedMs }) => ({
        path: cwd,
        display_name: cwd.split(/[/\\]/).findLast((part) => part !== "") ?? cwd,
        session_count: sessions,
        ...(usedMs === null ? {} : { last_used_at: usedMs }),
        pinned: false,
      })),
    });
  },
  async load_session_history(message, context) {
    const session = attached(context);
    if (agentOf(message.session_id) !== session.agent)
      throw new SallyportError("conflict", "this is not the attached session: attach it first.");
    const limit = Math.min(pageMessages, Math.max(1, message.limit));
    const page = await context.fewReads(() => readPage(context.engine, session, limit, message.before));
    context.client.send({
      type: "session_history_page",
      session_id: sessionIdOf(session.agent),
      messages: page.messages,
      ...(page.nextCursor === null ? {} : { next_cursor: page.nextCursor }),
      replace: false,
    });
  },
  async rename_session(message, context) {
    const { id } = await rowOf(context, message.session_id);
    const { title } = await context.engine.sessions.update(
      { type: "session_update", session: id, title: message.title },
      context.client.actor,
    );
    tellUnattached(context, {
      type: "session_title_changed",
      session_id: sessionIdOf(id),
      title: title ?? "",
    });
  },
  async regenerate_title(message, context) {
    const { id } = await rowOf(context, message.session_id);
    const title = await context.engine.sessions.regenerateTitle(id, context.client.actor);
    tellUnattached(context, { type: "session_title_changed", session_id: sessionIdOf(id), title });
  },
  pin_session: ({ session_id, pinned }, context) => mark(context, session_id, { pinned }),
  archive_session: ({ session_id, archived }, context) => mark(context, session_id, { archived }),
  async delete_session(message, context) {
    const { client, engine } = context;
    const row = await rowOf(context, message.session_id);
    // What is asked for is its end: who asked hears nothing more of it.
    if (client.session?.agent === row.id) context.hub.leave(client);
    if (row.tab !== null) await engine.closeAgent(row.id, client.actor);
    await engine.library.deleteSession(row.id, client.actor);
  },
};
