import type { Change, MissedChanges, Snapshot } from "../protocol/changes.ts";
import type { Command } from "../protocol/commands.ts";
import { AnswerError, isErrorBody, isRecord, UnreachableError } from "./answer-error.ts";

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
export type Broadcast = Change | JobMore | Lagged | Snapshot | MissedChanges;

export interface Closed {
  readonly code: number;
  readonly reason: string;
}

/** A reply to a command; its fields depend on the command. */
export interface Reply {
  readonly type: string;
  readonly [field: string]: unknown;
}

export interface Connection {
  /** The first message: all of the daemon's state. */
  readonly snapshot: Snapshot;
  /** Sends a command and resolves with its reply; an error reply is thrown as `AnswerError`. Rejects with `UnreachableError` when the socket closes first. */
  command(command: CommandInput): Promise<Reply>;
  /** Hears every message that is no reply, in order. Returns how to stop. */
  onBroadcast(listener: (message: Broadcast) => void): () => void;
  readonly closed: Promise<Closed>;
  close(): void;
}

type Without<T, K extends string> = T extends unknown ? Omit<T, K> : never;
export type CommandInput = Without<Command, "client_ref">;

export interface ConnectOptions {
  readonly open: OpenSocketAt;
  /** This client's own version, for `version_mismatch`. */
  readonly version: string;
  /** Resolves when the caller has waited long enough for the snapshot. */
  readonly deadline: Promise<void>;
}

/** Connects to the native socket and resolves when the snapshot has arrived. */
export async function connect(options: ConnectOptions): Promise<Connection> {
  const waiting = new Map<string, { resolve: (reply: Reply) => void; reject: (error: Error) => void }>();
  const listeners = new Set<(message: Broadcast) => void>();
  const first = deferred<Snapshot>();
  const closed = deferred<Closed>();
  let gotSnapshot = false;
  let lastRef = 0;
  let isClosed = false;

  const socket = await options.open(`/api/ws?version=${encodeURIComponent(options.version)}`, {
    message(text) {
      const message = parseMessage(text);
      if (message === null) return;
      const ref = message.client_ref;
      if (typeof ref === "string") {
        const waiter = waiting.get(ref);
        waiting.delete(ref);
        if (isErrorBody(message)) waiter?.reject(new AnswerError(0, message));
        else waiter?.resolve(message);
        return;
      }
      if (!gotSnapshot) {
        if (message.type !== "snapshot") return;
        gotSnapshot = true;
        first.resolve(message as unknown as Snapshot);
        return;
      }
      for (const listener of [...listeners]) listener(message as unknown as Broadcast);
    },
    close(code, reason) {
      isClosed = true;
      const error = new UnreachableError(`The connection to the daemon closed (${code}).`);
      first.reject(error);
      for (const waiter of waiting.values()) waiter.reject(error);
      waiting.clear();
      closed.resolve({ code, reason });
    },
  });

  const snapshot = await Promise.race([
    first.promise,
    options.deadline.then(() => {
      if (gotSnapshot) return first.promise;
      socket.close();
      throw new UnreachableError("The daemon sent no snapshot in time.");
    }),
  ]);

  return {
    snapshot,
    closed: closed.promise,
    command(command) {
      if (isClosed) return Promise.reject(new UnreachableError("The connection to the daemon is closed."));
      lastRef += 1;
      const ref = `c${lastRef}`;
      const reply = deferred<Reply>();
      waiting.set(ref, reply);
      socket.send(JSON.stringify({ ...command, client_ref: ref }));
      return reply.promise;
    },
    onBroadcast(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close() {
      socket.close(1000);
    },
  };
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

interface Deferred<T> {
  readonly promise: Promise<T>;
  readonly resolve: (value: T) => void;
  readonly reject: (error: Error) => void;
}

function deferred<T>(): Deferred<T> {
  let resolve: (value: T) => void = unset;
  let reject: (error: Error) => void = unset;
  const promise = new Promise<T>((onResolve, onReject) => {
    resolve = onResolve;
    reject = onReject;
  });
  promise.catch(() => undefined); // Whoever awaits it sees the rejection; nobody waiting is no fault.
  return { promise, resolve, reject };
}

function unset(): never {
  throw new TypeError("used before its promise was made");
}
