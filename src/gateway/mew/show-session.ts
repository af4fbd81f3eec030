import type { Engine } from "../../engine/engine.ts";
import { closeCodes } from "../../protocol/close-codes.ts";
import { sessionIdOf } from "../../protocol/mew/ids.ts";
import type { MewServerMessage } from "../../protocol/mew/server-messages.ts";
import type { MewSpelling } from "../../protocol/mew/spelling.ts";
import type { Job, PermissionRequest, Question } from "../../protocol/objects.ts";
import type { Connection } from "../sockets/connection.ts";
import type { MewClient, MewSession } from "./attachment.ts";
import type { FewAtOnce } from "./few-at-once.ts";
import type { MewHub } from "./hub.ts";
import { readyMessage } from "./live-session.ts";
import type { SharedRead, SharedReads } from "./shared-reads.ts";
import { createDelivery, type MewDelivery } from "./translate/delivery.ts";
import { type HistoryPage, pageMessages, readHistoryPage } from "./translate/history-page.ts";
import { permissionMessages, questionMessage } from "./translate/requests.ts";
import { jobState, todosMessages } from "./translate/values.ts";

/** So much happens while a history is read that what happened cannot be kept: not more often than this. */
const maxReads = 5;
const maxShownJobs = 100;
/** How long a history is waited for until most of it has gone. */
const maxLooks = 20;
const lookMs = 10;
const mostlyTakenBytes = 256 * 1024;

export interface ShowOptions {
  readonly engine: Engine;
  readonly hub: MewHub;
  /** Of a crowd that comes back at once, few are told their histories at a time. */
  readonly fewReads: FewAtOnce;
  readonly histories: SharedReads<ShownHistory>;
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
  for (let reads = 0; reads < maxReads; reads += 1) {
    const hold = client.hold();
    const history = options.histories.ask(`${session.agent} ${client.spelling}`);
    try {
      if ((await options.fewReads(() => tell(client, session, { hold, history }, options, how))) === "told")
        return;
    } finally {
      history.end();
    }
  }
  client.connection.end(closeCodes.notReading, "more happens than can be told");
}

interface Telling {
  /** The number of the hold under which what happens is kept back. */
  readonly hold: number;
  readonly history: SharedRead<ShownHistory>;
}

/** Also where there is nobody to tell any more. What was not told has to be read again. */
async function tell(
  client: MewClient,
  session: MewSession,
  { hold, history }: Telling,
  options: ShowOptions,
  how: HowToShow,
): Promise<"told" | "again"> {
  // Who left while it waited costs nothing.
  if (client.holds(hold) === "over") return "told";
  let shown: ShownHistory;
  try {
    shown = await history.value(() => readHistory(client.spelling, session, options));
  } catch (error) {
    if (client.holds(hold) === "over") return "told";
    client.release(0);
    throw error;
  }
  const state = client.holds(hold);
  if (state === "over") return "told";
  if (state === "overflowed") return "again";
  if (client.session !== session) {
    client.release(0);
    return "told";
  }
  if (how.ready) client.send(readyMessage(session));
  sendHistory(client, session, shown, how);
  const todos = options.hub.translator.todosOf(session.agent) ?? shown.todos;
  if (todos !== null) client.send(todosMessages(todos)[client.spelling]);
  sendOpenRequests(client, session, options);
  sendRunningJobs(client, session, options);
  client.release(shown.seq);
  await mostlyTaken(client.connection);
  return "told";
}

/** So that a crowd is not sent more at once than what waits for it may take; who is slow is not waited for. */
async function mostlyTaken(connection: Pick<Connection, "queuedBytes" | "open">): Promise<void> {
  for (let looks = 0; looks < maxLooks; looks += 1) {
    if (!connection.open || connection.queuedBytes < mostlyTakenBytes) return;
    await new Promise((resolve) => setTimeout(resolve, lookMs));
  }
}

/** A history as clients of one spelling are told it: encoded once, however many they are. */
export interface ShownHistory {
  readonly told: MewDelivery;
  readonly isEmpty: boolean;
  readonly seq: HistoryPage["seq"];
  readonly todos: HistoryPage["todos"];
}

async function readHistory(
  spelling: MewSpelling,
  session: MewSession,
  { engine }: Pick<ShowOptions, "engine">,
): Promise<ShownHistory> {
  const maxMessages = spelling === "snake" ? pageMessages : Infinity;
  const { messages, nextCursor, seq, todos } = await readPage(engine, session, maxMessages);
  const message: MewServerMessage =
    spelling === "camel"
      ? { type: "session_history", messages }
      : {
          type: "session_history_page",
          session_id: sessionIdOf(session.agent),
          messages,
          ...(nextCursor === null ? {} : { next_cursor: nextCursor }),
          replace: true,
        };
  const told = createDelivery({ to: "session", agent: session.agent }, message);
  return { told, isEmpty: messages.length === 0, seq, todos };
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

function sendHistory(
  client: MewClient,
  { thinking: variant }: MewSession,
  { told, isEmpty }: ShownHistory,
  how: HowToShow,
): void {
  const thinking: MewServerMessage = { type: "thinking_variant_changed", variant };
  if (client.spelling === "camel") {
    client.answer(told);
    if (variant !== null) client.send(thinking);
    return;
  }
  client.send(thinking);
  if (!how.isNew || !isEmpty) client.answer(told);
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
