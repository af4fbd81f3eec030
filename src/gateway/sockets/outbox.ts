/** What an outbox writes to; a `net.Socket` fits. */
export interface OutboxSink {
  write(frame: Buffer): unknown;
  readonly writableLength: number;
  readonly writableHighWaterMark: number;
}

export interface OutboxOptions {
  readonly sink: OutboxSink;
  readonly maxBytes: number;
  /** Makes the message that tells of dropped changes, at the time it leaves. */
  readonly lagged: () => Buffer;
}

/**
 * What waits for one client, bounded. The socket is given little at a time, so that a close frame overtakes the rest.
 *
 * An empty outbox takes any one message. Replies are never dropped: the owner reads no further command while it is
 * `full`. From the first change that does not fit, all are dropped until it has drained; then `lagged` goes out once.
 */
export interface Outbox {
  /** Bytes that the kernel has not taken yet. */
  readonly queuedBytes: number;
  readonly full: boolean;
  /** Nothing waits here; the socket may still hold a little. */
  readonly empty: boolean;
  /** Bytes that the kernel has taken since the beginning. */
  readonly takenBytes: number;
  readonly lagging: boolean;
  /** Bytes of the replies that wait here. A change is the same bytes for all clients, a reply is held for one alone. */
  readonly replyBytes: number;
  sendChange(frame: Buffer): void;
  sendReply(frame: Buffer): void;
  /** Sends the newest of its kind, encoded when it leaves; one that still waits under the same key is replaced. */
  sendLatest(key: string, encode: () => Buffer): void;
  /** To be called at each `drain` of the socket. */
  drained(): void;
  /** Forgets what waits; nothing is written any more. */
  drop(): void;
}

const released = Buffer.alloc(0);

export function createOutbox({ sink, maxBytes, lagged }: OutboxOptions): Outbox {
  let waiting: Buffer[] = [];
  let first = 0;
  let waitingBytes = 0;
  /** The replies among what waits. */
  const replies = new Set<Buffer>();
  let replyBytes = 0;
  const latest = new Map<string, () => Buffer>();
  let acceptedBytes = 0;
  let lagging = false;
  let dropped = false;

  // A socket at its mark will emit `drain`: only then may something wait here, or nobody would fetch it.
  const accepts = (): boolean => sink.writableLength < sink.writableHighWaterMark;
  const nothingWaits = (): boolean => first === waiting.length;

  function write(frame: Buffer): void {
    acceptedBytes += frame.length;
    sink.write(frame);
  }

  function compact(): void {
    if (first < 1_024 || 2 * first < waiting.length) return;
    waiting = waiting.slice(first);
    first = 0;
  }

  function enqueue(frame: Buffer): void {
    if (nothingWaits() && accepts()) write(frame);
    else {
      waiting.push(frame);
      waitingBytes += frame.length;
    }
  }

  function flush(): void {
    while (!nothingWaits()) {
      if (!accepts()) {
        compact();
        return;
      }
      const frame = waiting[first] ?? released;
      waiting[first] = released;
      first += 1;
      waitingBytes -= frame.length;
      if (replies.size > 0 && replies.delete(frame)) replyBytes -= frame.length;
      write(frame);
    }
    waiting = [];
    first = 0;
    for (const [key, encode] of latest) {
      if (!accepts()) return;
      latest.delete(key);
      write(encode());
    }
    if (lagging && accepts()) {
      lagging = false;
      write(lagged());
    }
  }

  return {
    get queuedBytes() {
      return waitingBytes + sink.writableLength;
    },
    get full() {
      return !dropped && waitingBytes + sink.writableLength >= maxBytes;
    },
    get empty() {
      return nothingWaits() && latest.size === 0;
    },
    get takenBytes() {
      return acceptedBytes - sink.writableLength;
    },
    get lagging() {
      return lagging;
    },
    get replyBytes() {
      return replyBytes;
    },
    sendChange(frame) {
      if (lagging || dropped) return;
      const queuedBytes = waitingBytes + sink.writableLength;
      if (queuedBytes === 0 || queuedBytes + frame.length <= maxBytes) {
        enqueue(frame);
        return;
      }
      lagging = true;
      // With nothing waiting and the socket below its mark no `drain` would come.
      if (nothingWaits() && accepts()) flush();
    },
    sendReply(frame) {
      if (dropped) return;
      if (!nothingWaits() || !accepts()) {
        replies.add(frame);
        replyBytes += frame.length;
      }
      enqueue(frame);
    },
    sendLatest(key, encode) {
      if (dropped) return;
      if (nothingWaits() && accepts()) {
        latest.delete(key);
        write(encode());
      } else latest.set(key, encode);
    },
    drained() {
      if (!dropped) flush();
    },
    drop() {
      dropped = true;
      waiting = [];
      first = 0;
      waitingBytes = 0;
      replies.clear();
      replyBytes = 0;
      latest.clear();
    },
  };
}
