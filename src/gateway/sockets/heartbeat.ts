import type { Socket } from "node:net";
import type { WebSocket } from "ws";
import { limits } from "../../protocol/limits.ts";
import type { Outbox } from "./outbox.ts";

export interface HeartbeatSigns {
  /** Any frame of the client since the last beat. */
  readonly heard: boolean;
  /** What waited for it has become less since the last beat. */
  readonly drained: boolean;
  /** We have not been reading since the last beat, for a reason of ours: silence proves nothing. */
  readonly deaf: boolean;
}

/**
 * How many beats in a row this client has missed. One that answers pings, sends anything, or takes what waits for it is
 * alive; the caller ends it at `limits.missedPings`.
 */
export function missedBeats(missedBefore: number, signs: HeartbeatSigns): number {
  return signs.heard || signs.drained || signs.deaf ? 0 : missedBefore + 1;
}

export interface HeartbeatOptions {
  readonly ws: WebSocket;
  readonly socket: Socket;
  readonly outbox: Outbox;
  readonly intervalMs: number;
  /** Called at each beat at which the client counts as gone. */
  readonly onLost: () => void;
}

export interface Heartbeat {
  /** A frame of the client came. */
  heard(): void;
  stop(): void;
}

const uploadBytesPerBeat = (limits.bodyProgressBytes * limits.pingIntervalMs) / limits.bodyTimeoutMs;

/** Pings the client at each beat, and tells when it has given no sign of life for too many of them. */
export function startHeartbeat({ ws, socket, outbox, intervalMs, onLost }: HeartbeatOptions): Heartbeat {
  let heard = false;
  let missed = 0;
  let bytesReadBefore = 0;
  let before = { backlog: false, takenBytes: 0, kernelQueueBytes: 0 };

  function beat(): void {
    const progress = {
      backlog: outbox.queuedBytes > 0,
      takenBytes: outbox.takenBytes,
      kernelQueueBytes: kernelQueueBytes(socket),
    };
    // Without a backlog the kernel takes everything, also for a client that is gone: only a backlog that moves is a sign.
    const moved =
      progress.takenBytes > before.takenBytes || progress.kernelQueueBytes !== before.kernelQueueBytes;
    const deaf = ws.isPaused && !outbox.full;
    // In the middle of a large frame a client cannot answer pings; it must go on at the pace that bodies must.
    const sending = socket.bytesRead - bytesReadBefore >= uploadBytesPerBeat;
    bytesReadBefore = socket.bytesRead;
    missed = missedBeats(missed, { heard: heard || sending, drained: before.backlog && moved, deaf });
    heard = false;
    before = progress;
    if (missed >= limits.missedPings) onLost();
    else if (ws.readyState === ws.OPEN) ws.ping();
  }
  const timer = setInterval(beat, intervalMs);

  return {
    heard() {
      heard = true;
    },
    stop: () => clearInterval(timer),
  };
}

/** What is left of the write under way: Node counts a large one as a whole until its last byte has gone. */
function kernelQueueBytes(socket: Socket & { _handle?: { writeQueueSize?: number } | null }): number {
  return socket._handle?.writeQueueSize ?? 0;
}
