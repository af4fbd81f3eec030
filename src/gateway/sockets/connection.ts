import type { Socket } from "node:net";
import type { WebSocket } from "ws";
import type { Lease } from "../../auth/principal.ts";
import type { Log } from "../../lib/log.ts";
import { closeCodes } from "../../protocol/close-codes.ts";
import { limits } from "../../protocol/limits.ts";
import type { Admission } from "../admission.ts";
import { type HeldBytes, holderOf } from "../held-bytes.ts";
import { closeForFlood, closeForLease } from "../respond.ts";
import { trackWork } from "../work-in-flight.ts";
import { createTokenBucket } from "./flood.ts";
import { startHeartbeat } from "./heartbeat.ts";
import { createInbox, type ReceivedFrame } from "./inbox.ts";
import { createOutbox, type Outbox } from "./outbox.ts";

export interface ConnectionTiming {
  readonly pingIntervalMs: number;
  readonly revokeGraceMs: number;
  /** How long a client may take to answer a close frame. */
  readonly closeGraceMs: number;
}

/** What a connection may hold of what it sent before that is counted: nearly all never hold more. */
const uncountedBytes = limits.bodyBytes;
/** A masked ping or pong without its data (RFC 6455, section 5.2). */
const controlFrameBytes = 6;

export const connectionTiming: ConnectionTiming = {
  pingIntervalMs: limits.pingIntervalMs,
  revokeGraceMs: limits.revokeGraceMs,
  closeGraceMs: 2_000,
};

/** What a dialect does with a connection. */
export interface DialectHandler {
  /** One frame after the other, in order; a promise holds the next one back. Must not throw. */
  receive(frame: ReceivedFrame): void | Promise<void>;
  /** The message that tells of dropped changes, as a frame. */
  lagged(): Buffer;
  /** Called once, when nothing will be sent any more. */
  ended(): void;
}

export interface ConnectionOptions {
  readonly ws: WebSocket;
  readonly socket: Socket;
  readonly admission: Admission;
  readonly lease: Lease;
  readonly timing: ConnectionTiming;
  readonly maxQueueBytes: number;
  /** Bounds what clients make the daemon hold of what they send. */
  readonly incoming: HeldBytes;
  /** Bounds the replies that wait for clients. */
  readonly outgoing: HeldBytes;
  readonly log: Log;
  readonly now: () => number;
}

export interface Connection {
  readonly admission: Admission;
  readonly lease: Lease;
  /** Bytes that wait for this client. */
  readonly queuedBytes: number;
  /** False once it is closing: nothing is sent or run any more. */
  readonly open: boolean;
  /** False while changes are dropped: the client does not keep up, or has left. */
  readonly takesChanges: boolean;
  /** Gives the connection its dialect and starts reading. */
  start(handler: DialectHandler): void;
  sendChange(frame: Buffer): void;
  sendReply(frame: Buffer): void;
  sendLatest(key: string, encode: () => Buffer): void;
  /**
   * Sends the close frame ahead of all that waits, drops the rest and the commands that wait, and destroys the socket
   * after `graceMs`. Later calls change nothing.
   */
  end(code: number, reason: string, graceMs?: number): void;
  /** Lets what waits drain first, but no longer than `graceMs`. */
  endWhenDrained(code: number, reason: string, graceMs: number): void;
  /** Calls `listener` once when the connection stops counting (at once if it has). */
  onEnd(listener: () => void): void;
  /** Resolves when the socket is gone. */
  readonly gone: Promise<void>;
}

/**
 * One WebSocket of either dialect: bounded queue both ways, commands strictly in order, heartbeat, and the lease that
 * ends it (4401). Frames are written to the socket itself, whole, between those that `ws` writes (ping, pong, close).
 */
export function createConnection(options: ConnectionOptions): Connection {
  const { ws, socket, admission, lease, timing, now } = options;
  const endListeners = new Set<() => void>();
  const incoming = options.incoming.share(holderOf(lease));
  const outgoing = options.outgoing.share(holderOf(lease));
  /** Bytes read since the last whole message: `ws` holds them until the next one is whole. */
  let partialBytes = 0;
  const controlFrames = createTokenBucket({
    capacity: limits.commandsPerSecond,
    perSecond: limits.commandsPerSecond,
  });
  let handler: DialectHandler | null = null;
  let ended = false;
  let draining: (() => void) | null = null;
  let stopLease: () => void = () => undefined;
  let destroyTimer: NodeJS.Timeout | null = null;

  const outbox: Outbox = createOutbox({
    sink: socket,
    maxBytes: options.maxQueueBytes,
    lagged: () => handler?.lagged() ?? Buffer.alloc(0),
  });
  const inbox = createInbox({
    receive: (frame) => trackWork(lease, handler?.receive(frame)),
    mayRun: () => !outbox.full,
    log: options.log,
  });
  /** Ends the client that would make the daemon hold more than it spares. */
  function countIncoming(): void {
    if (ended) return;
    const heldBytes = Math.max(0, partialBytes + inbox.heldBytes - uncountedBytes);
    if (incoming.set(heldBytes)) return;
    const { code, reason } = closeForFlood(10);
    end(code, reason, timing.revokeGraceMs);
  }
  function countOutgoing(): void {
    if (ended || outgoing.set(outbox.replyBytes)) return;
    end(closeCodes.notReading, "did not read", timing.revokeGraceMs);
  }
  const canWrite = (): boolean => !ended && ws.readyState === ws.OPEN;

  function adjustReading(): void {
    if (ended) return;
    const wanted = !inbox.crowded && !outbox.full;
    if (wanted && ws.isPaused) ws.resume();
    else if (!wanted && !ws.isPaused) ws.pause();
  }
  inbox.onChange(() => {
    adjustReading();
    countIncoming();
  });

  /** Stops everything but the socket itself. `dropCommands` is false when the client left by itself: what it sent counts. */
  function stop(dropCommands: boolean): void {
    if (ended) return;
    ended = true;
    outbox.drop();
    if (dropCommands) inbox.drop();
    incoming.set(0);
    outgoing.set(0);
    socket.off("data", onData);
    stopLease();
    socket.off("drain", onDrain);
    for (const listener of endListeners) listener();
    endListeners.clear();
    handler?.ended();
    inbox.pump();
  }

  function destroyAfter(graceMs: number): void {
    heartbeat.stop();
    destroyTimer ??= setTimeout(() => socket.destroy(), graceMs);
  }

  function end(code: number, reason: string, graceMs = timing.closeGraceMs): void {
    if (ended) return;
    stop(true);
    ws.close(code, reason);
    // What the client still sends must be read for its answer to the close frame to arrive; it is thrown away.
    if (ws.isPaused) ws.resume();
    destroyAfter(graceMs);
  }

  const heartbeat = startHeartbeat({
    ws,
    socket,
    outbox,
    intervalMs: timing.pingIntervalMs,
    onLost() {
      const deliverable = canWrite() && socket.writableLength === 0;
      end(closeCodes.notReading, "did not read", deliverable ? timing.closeGraceMs : 0);
      if (!deliverable) resetSocket(socket);
    },
  });

  function onData(chunk: Buffer): void {
    partialBytes += chunk.length;
    if (partialBytes > uncountedBytes) countIncoming();
  }
  function onControlFrame(data: Buffer): void {
    heartbeat.heard();
    partialBytes = Math.max(0, partialBytes - controlFrameBytes - data.length);
    if (controlFrames.take(now())) return;
    const { code, reason } = closeForFlood(10);
    end(code, reason);
  }
  function onMessage(data: Buffer, isBinary: boolean): void {
    heartbeat.heard();
    partialBytes = 0;
    if (ended) return;
    inbox.push({ data, isBinary, waited: inbox.idle && outbox.queuedBytes === 0 });
  }
  function onDrain(): void {
    outbox.drained();
    countOutgoing();
    if (!outbox.full) inbox.pump();
    adjustReading();
    if (draining && outbox.empty) draining();
  }

  const gone = new Promise<void>((resolve) => {
    ws.once("close", () => {
      heartbeat.stop();
      if (destroyTimer) clearTimeout(destroyTimer);
      stop(false);
      resolve();
    });
  });
  // `ws` has sent the close frame that fits (1002, 1007, 1009) before it tells of an error; only this socket is lost.
  ws.on("error", () => {
    stop(true);
    destroyAfter(timing.closeGraceMs);
  });

  stopLease = lease.onEnd((why) => {
    const { code, reason } = closeForLease(why);
    end(code, reason, timing.revokeGraceMs);
  });

  return {
    admission,
    lease,
    gone,
    get queuedBytes() {
      return outbox.queuedBytes;
    },
    get open() {
      return canWrite();
    },
    get takesChanges() {
      return canWrite() && !outbox.lagging;
    },
    start(dialect) {
      handler = dialect;
      if (ended) {
        dialect.ended();
        return;
      }
      socket.on("drain", onDrain);
      // Before `ws` gets it: a message that the chunk completes sets the count back.
      socket.prependListener("data", onData);
      ws.on("ping", onControlFrame);
      ws.on("pong", onControlFrame);
      ws.on("message", onMessage);
    },
    sendChange(frame) {
      if (canWrite()) outbox.sendChange(frame);
    },
    sendReply(frame) {
      if (!canWrite()) return;
      outbox.sendReply(frame);
      countOutgoing();
    },
    sendLatest(key, encode) {
      if (canWrite()) outbox.sendLatest(key, encode);
    },
    end,
    endWhenDrained(code, reason, graceMs) {
      if (ended) return;
      inbox.drop();
      if (outbox.empty) {
        end(code, reason);
        return;
      }
      const timer = setTimeout(() => end(code, reason), graceMs);
      draining = () => {
        clearTimeout(timer);
        draining = null;
        end(code, reason);
      };
    },
    onEnd(listener) {
      if (ended) listener();
      else endListeners.add(listener);
    },
  };
}

/** A reset where the transport knows one (TCP), so that the kernel does not keep unsent bytes; else a plain destroy. */
function resetSocket(socket: Socket): void {
  try {
    socket.resetAndDestroy();
  } catch {
    // Only TCP has a reset: TLS and Unix sockets are destroyed.
    socket.destroy();
  }
}
