import type { Change, MissedChanges, Snapshot } from "../protocol/changes.ts";
import { AnswerError, isErrorBody, isRecord, UnreachableError } from "./answer-error.ts";
import { type Deferred, deferred } from "./deferred.ts";
import type { CommandInput, ReplyTo } from "./replies.ts";

/** What the transport tells. `close` comes once, after everything that arrived before it. */
export interface SocketHandlers {
  readonly message: (text: string) => void;
  readonly close: (code: number, reason: string) => void;
}
export interface OpenSocket {
  send(text: string): void;
  close(code?: number): void;
}

/**
 * Opens the socket; resolves when it is open. Rejects with `AnswerError` when the upgrade was refused and with
 * `UnreachableError` when nobody answers. Injected, so that this file runs in a browser too.
 */
export type OpenSocketAt = (path: string, handlers: SocketHandlers) => Promise<OpenSocket>;

/** A message about a job that this connection follows. */
export interface JobMore {
  readonly type: "job_more";
  readonly job: string;
  readonly size: number;
  readonly running: boolean;
}
export interface Lagged {
  readonly type: "lagged";
  readonly rev: number;
}
export type FirstMessage = Snapshot | MissedChanges;
export type Broadcast = Change | JobMore | Lagged | FirstMessage;

export interface Closed {
  readonly code: number;
  readonly reason: string;
}

/** Any reply; its fields depend on the command. */
export interface Reply {
  readonly type: string;
  readonly [field: string]: unknown;
}

export interface Connection {
  /** All of the daemon's state, or only what was missed since `resume`. */
  readonly first: FirstMessage;
  /** Sends a command and resolves with its reply; an error reply is thrown as `AnswerError`. Rejects with `UnreachableError` when the socket closes first. */
  command<C extends CommandInput>(command: C): Promise<ReplyTo<C["type"]>>;
  /** Hears every message that is no reply, in order; what came before the first listener is kept for it. Returns how to stop. */
  onBroadcast(listener: (message: Broadcast) => void): () => void;
  readonly closed: Promise<Closed>;
  close(): void;
  /** Counts as closed from now on, whatever the other side still does: for a peer that is silent. */
  abandon(): void;
}
export type FreshConnection = Connection & { readonly first: Snapshot; readonly snapshot: Snapshot };

export interface ConnectOptions {
  readonly open: OpenSocketAt;
  /** This client's own version, for `version_mismatch`. */
  readonly version: string;
  /** Resolves when the caller has waited long enough for the first message. */
  readonly deadline: Promise<void>;
}
export interface OpenConnectionOptions extends ConnectOptions {
  /** Where the caller's state stands; null: it has none. */
  readonly resume: { readonly since: number; readonly instance: string; readonly workspace: string } | null;
  /** Hears of every message that arrives, replies too: the other side lives. */
  readonly onSign?: () => void;
}

/** More messages than anybody leaves unheard between two steps of his own. */
const maxUnheard = 10_000;

/** Connects to the native socket and resolves with all of the daemon's state. */
export async function connect(options: ConnectOptions): Promise<FreshConnection> {
  const connection = await openConnection({ ...options, resume: null });
  const { first } = connection;
  if (!isSnapshot(first)) throw new UnreachableError("The daemon answered what was not asked.");
  return Object.assign(connection, { first, snapshot: first });
}

/** Connects and resolves when the first message has arrived. Rejects as `OpenSocketAt`, and with `UnreachableError` past the deadline. */
export async function openConnection(options: OpenConnectionOptions): Promise<Connection> {
  const waiting = new Map<string, Deferred<Reply>>();
  const listeners = new Set<(message: Broadcast) => void>();
  const unheard: Broadcast[] = [];
  const firstMessage = deferred<FirstMessage>();
  const closed = deferred<Closed>();
  let hasListened = false;
  let first: FirstMessage | null = null;
  let lastRef = 0;
  let isClosed = false;

  function tell(message: Broadcast): void {
    if (hasListened) for (const listener of [...listeners]) listener(message);
    else if (unheard.length < maxUnheard) unheard.push(message);
    // Whoever begins to listen now knows that he has missed something.
    else unheard.splice(0, unheard.length, { type: "lagged", rev: revOf(message) });
  }

  function receive(text: string): void {
    if (isClosed) return;
    options.onSign?.();
    const message = parseMessage(text);
    if (message === null) return;
    const ref = message.client_ref;
    if (typeof ref === "string") {
      const waiter = waiting.get(ref);
      waiting.delete(ref);
      if (isErrorBody(message)) waiter?.reject(new AnswerError(0, message));
      else waiter?.resolve(message);
    } else if (first !== null) tell(message as unknown as Broadcast);
    else if (message.type === "snapshot") {
      first = message as unknown as FirstMessage;
      firstMessage.resolve(first);
    }
  }

  function end(code: number, reason: string): void {
    if (isClosed) return;
    isClosed = true;
    const error = new UnreachableError(`The connection to the daemon closed (${code}).`);
    firstMessage.reject(error);
    for (const waiter of waiting.values()) waiter.reject(error);
    waiting.clear();
    closed.resolve({ code, reason });
  }

  const opening = options.open(pathOf(options), { message: receive, close: end });
  const tooLate = options.deadline.then((): FirstMessage => {
    if (first !== null) return first;
    // One that opens after all is of no use any more; a refusal then is no news.
    opening.then(
      (late) => late.close(),
      () => undefined,
    );
    throw new UnreachableError("The daemon sent no snapshot in time.");
  });
  await Promise.race([opening, tooLate]);
  const socket = await opening;

  const connection = {
    first: await Promise.race([firstMessage.promise, tooLate]),
    closed: closed.promise,
    command(command: CommandInput): Promise<Reply> {
      if (isClosed) return Promise.reject(new UnreachableError("The connection to the daemon is closed."));
      lastRef += 1;
      const ref = `c${lastRef}`;
      const reply = deferred<Reply>();
      waiting.set(ref, reply);
      socket.send(JSON.stringify({ ...command, client_ref: ref }));
      return reply.promise;
    },
    onBroadcast(listener: (message: Broadcast) => void) {
      listeners.add(listener);
      hasListened = true;
      for (const message of unheard.splice(0)) listener(message);
      return () => {
        listeners.delete(listener);
      };
    },
    close() {
      socket.close(1000);
    },
    abandon() {
      end(1006, "");
      socket.close();
    },
  };
  // The reply to a command has the shape that the wire protocol promises for it.
  return connection as Connection;
}

/** True for the whole state; the other first message holds only what was missed. */
export function isSnapshot(message: FirstMessage): message is Snapshot {
  return !("changes" in message);
}

function pathOf({ version, resume }: OpenConnectionOptions): string {
  const query = new URLSearchParams({ version });
  if (resume !== null) {
    query.set("since", String(resume.since));
    query.set("instance", resume.instance);
    // A connection has one workspace; this one goes on with that of the last.
    query.set("workspace", resume.workspace);
  }
  return `/api/ws?${query}`;
}

function parseMessage(text: string): Reply | null {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return null; // A newer daemon may send what we do not know; clients parse defensively.
  }
  return isRecord(parsed) && typeof parsed.type === "string" ? { ...parsed, type: parsed.type } : null;
}

function revOf(message: Broadcast): number {
  return "rev" in message ? message.rev : 0;
}
