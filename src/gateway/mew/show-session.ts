import type { Engine } from "../../engine/engine.ts";
import { closeCodes } from "../../protocol/close-codes.ts";
import { sessionIdOf } from "../../protocol/mew/ids.ts";
import type { Job, PermissionRequest, Question } from "../../protocol/objects.ts";
import type { MewClient, MewSession } from "./attachment.ts";
import type { FewAtOnce } from "./few-at-once.ts";
import type { MewHub } from "./hub.ts";
import { readyMessage } from "./live-session.ts";
import { type HistoryPage, pageMessages, readHistoryPage } from "./translate/history-page.ts";
import { permissionMessages, questionMessage } from "./translate/requests.ts";
import { jobState, todosMessages } from "./translate/values.ts";

/** So much happens while a history is read that what happened cannot be kept: not more often than this. */
const maxReads = 5;
const maxShownJobs = 100;

export interface ShowOptions {
  readonly engine: Engine;
  readonly hub: MewHub;
  /** Of a crowd that comes back at once, few are told their histories at a time. */
  readonly fewReads: FewAtOnce;
}

type Known = Pick<ShowOptions, "engine" | "hub">;

export interface HowToShow {
  /** False where `session_ready` was sent already. */
  readonly ready: boolean;
  /** True for one that was made just now: real clients expect no history of it, those of the document an empty one. */
  readonly isNew: boolean;
}

/**
 * Tells a client of its session: that it is ready, its history, what is to do, what waits for an answer, which jobs run.
 * What happens meanwhile follows behind it, each event once. Throws what reading the transcript throws; then nothing was
 * sent.
 */
export async function showSession(
  client: MewClient,
  session: MewSession,
  options: ShowOptions,
  how: HowToShow,
): Promise<void> {
  const { engine, fewReads } = options;
  const maxMessages = client.spelling === "snake" ? pageMessages : Infinity;
  for (let reads = 0; reads < maxReads; reads += 1) {
    const hold = client.hold();
    let page: HistoryPage | null;
    try {
      page = await fewReads(async () =>
        // Who left while it waited costs nothing.
        client.holds(hold) === "over" ? null : await readPage(engine, session, maxMessages),
      );
    } catch (error) {
      if (client.holds(hold) === "over") return;
      client.release(0);
      throw error;
    }
    const state = client.holds(hold);
    if (page === null || state === "over") return;
    if (state === "overflowed") continue;
    if (client.session !== session) {
      client.release(0);
      return;
    }
    if (how.ready) client.send(readyMessage(session));
    sendHistory(client, session, page, how);
    const todos = options.hub.translator.todosOf(session.agent) ?? page.todos;
    if (todos !== null) client.send(todosMessages(todos)[client.spelling]);
    sendOpenRequests(client, session, options);
    sendRunningJobs(client, session, options);
    client.release(page.seq);
    return;
  }
  client.connection.end(closeCodes.notReading, "more happens than can be told");
}

/** The newest messages, or those before the record `before`; `maxMessages` may be infinite. Rejects as `readSession` does. */
export function readPage(
  engine: Pick<Engine, "readSession">,
  session: MewSession,
  maxMessages: number,
  before?: number,
): Promise<HistoryPage> {
  return readHistoryPage({
    agent: session.agent,
    provider: session.runtime,
    model: session.model,
    read: (page) => engine.readSession(session.agent, page),
    maxMessages,
    ...(before === undefined ? {} : { before }),
  });
}

function sendHistory(client: MewClient, session: MewSession, page: HistoryPage, how: HowToShow): void {
  const { messages, nextCursor } = page;
  const variant = session.thinking;
  if (client.spelling === "camel") {
    client.send({ type: "session_history", messages });
    if (variant !== null) client.send({ type: "thinking_variant_changed", variant });
    return;
  }
  client.send({ type: "thinking_variant_changed", variant });
  if (how.isNew && messages.length === 0) return;
  client.send({
    type: "session_history_page",
    session_id: sessionIdOf(session.agent),
    messages,
    ...(nextCursor === null ? {} : { next_cursor: nextCursor }),
    replace: true,
  });
}

/** True for a request that the clients of a session are asked. */
export function asksSession(
  request: Pick<PermissionRequest | Question, "agent" | "tab">,
  session: Pick<MewSession, "agent" | "tab">,
  hub: Pick<MewHub, "translator">,
): boolean {
  return request.agent === null
    ? request.tab === session.tab
    : hub.translator.topOf(request.agent) === session.agent;
}

function sendOpenRequests(client: MewClient, session: MewSession, { engine, hub }: Known): void {
  const { pending, questions } = engine.snapshot();
  for (const request of pending) {
    if (!asksSession(request, session, hub)) continue;
    const child = request.agent === null ? null : hub.translator.childOf(request.agent);
    client.send(permissionMessages(request, child)[client.spelling]);
  }
  for (const question of questions)
    if (asksSession(question, session, hub)) client.send(questionMessage(question));
}

/** True for a job that a session may read: its agent's and its subagents', and those that clients started in its tab. */
export function isJobOf(
  job: Pick<Job, "agent" | "tab">,
  session: Pick<MewSession, "agent" | "tab">,
  { engine, hub }: Known,
): boolean {
  if (job.agent === null) return job.tab !== null && job.tab === session.tab;
  if (job.agent === session.agent || hub.translator.topOf(job.agent) === session.agent) return true;
  return isBelow(job.agent, session, engine);
}

/** A subagent that has ended is still known by its row. */
function isBelow(agent: string, session: Pick<MewSession, "agent" | "tab">, engine: Engine): boolean {
  if (session.tab === null) return false;
  const rows = engine.places
    .list()
    .flatMap(({ id }) => engine.snapshot(id).workspace.tabs)
    .find(({ id }) => id === session.tab)?.agents;
  const parents = new Map(rows?.map(({ id, parent }) => [id, parent]));
  let at: string | null = agent;
  for (let depth = 0; at !== null && depth <= parents.size; depth += 1) {
    if (at === session.agent) return true;
    at = parents.get(at) ?? null;
  }
  return false;
}

function sendRunningJobs(client: MewClient, session: MewSession, options: Known): void {
  const running = options.engine.listJobs().filter((job) => job.state === "running");
  for (const job of running.filter((each) => isJobOf(each, session, options)).slice(-maxShownJobs))
    client.send({
      type: "job_update",
      job_id: job.id,
      command: job.command,
      state: jobState(job.state),
    });
}
