import type { Log } from "../../lib/log.ts";

export interface ReceivedFrame {
  readonly data: Buffer;
  readonly isBinary: boolean;
  /** The client had every reply when this came in: it goes at our pace, not at its own. */
  readonly waited: boolean;
}

export interface InboxOptions {
  readonly receive: (frame: ReceivedFrame) => void | Promise<void> | undefined;
  /** False while replies pile up. */
  readonly mayRun: () => boolean;
  readonly log: Log;
}

/** The frames of one client that were read but not run yet: run strictly one after the other. */
export interface Inbox {
  /** Nothing waits and nothing runs. */
  readonly idle: boolean;
  /** Bytes of the frame that runs and of those that wait. */
  readonly heldBytes: number;
  /** Enough waits: read no more. */
  readonly crowded: boolean;
  push(frame: ReceivedFrame): void;
  /** Runs what may run. */
  pump(): void;
  /** Forgets what waits; what runs goes on. */
  drop(): void;
  /** Called when `crowded` may have changed. */
  onChange(listener: () => void): void;
}

const crowdedFrames = 64;
const crowdedBytes = 1024 * 1024;

export function createInbox({ receive, mayRun, log }: InboxOptions): Inbox {
  let waiting: ReceivedFrame[] = [];
  let waitingBytes = 0;
  let runningBytes = 0;
  let running = false;
  let pumping = false;
  let dropped = false;
  let changed: () => void = () => undefined;

  function finished(): void {
    running = false;
    runningBytes = 0;
    pump();
  }
  function failed(error: unknown): void {
    log.error({ err: error }, "a socket's command handler failed");
    finished();
  }
  function run(frame: ReceivedFrame): void {
    try {
      const pending = receive(frame);
      if (!pending) return;
      running = true;
      runningBytes = frame.data.length;
      pending.then(finished, failed);
    } catch (error) {
      log.error({ err: error }, "a socket's command handler failed");
    }
  }
  function pump(): void {
    if (pumping) return;
    pumping = true;
    let next = 0;
    while (!running && !dropped && next < waiting.length && mayRun()) {
      const frame = waiting[next];
      next += 1;
      if (!frame) continue;
      waitingBytes -= frame.data.length;
      run(frame);
    }
    waiting = next === waiting.length ? [] : waiting.slice(next);
    pumping = false;
    changed();
  }

  return {
    get idle() {
      return !running && waiting.length === 0;
    },
    get heldBytes() {
      return waitingBytes + runningBytes;
    },
    get crowded() {
      return waiting.length >= crowdedFrames || waitingBytes >= crowdedBytes;
    },
    push(frame) {
      if (dropped) return;
      waiting.push(frame);
      waitingBytes += frame.data.length;
      pump();
    },
    pump,
    drop() {
      dropped = true;
      waiting = [];
      waitingBytes = 0;
    },
    onChange(listener) {
      changed = listener;
    },
  };
}
