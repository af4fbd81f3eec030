import type { RefusalEvent } from "../gateway/gate-server.ts";
import type { Log } from "../lib/log.ts";

export interface RefusalLogOptions {
  readonly log: Log;
  /** Refusals of one kind within this time are one line that counts them. */
  readonly intervalMs: number;
  readonly maxKinds?: number;
}

/**
 * Tells the log which requests were refused, cheaply: the first of a kind (code, step, door, class, route) at once, those
 * that follow as a count. A flood of them is a few lines a minute.
 */
export function createRefusalLog(options: RefusalLogOptions): {
  readonly note: (event: RefusalEvent) => void;
  readonly close: () => void;
} {
  const { log, maxKinds = 256 } = options;
  const counts = new Map<string, { event: RefusalEvent; count: number }>();

  function flush(): void {
    for (const [kind, entry] of counts) {
      if (entry.count === 0) counts.delete(kind);
      else log.info({ ...entry.event, clientAddress: null, count: entry.count }, "refused again");
      entry.count = 0;
    }
  }
  const timer = setInterval(flush, options.intervalMs);
  timer.unref();

  let last: { event: RefusalEvent; count: number } | null = null;

  return {
    note(event) {
      // A flood is of one kind: nothing is put together for the next of it.
      if (last !== null && isSameKind(last.event, event) && last.count > 0) {
        last.count += 1;
        return;
      }
      const kind = `${event.code} ${event.step} ${event.door} ${event.requestClass} ${event.route}`;
      const entry = counts.get(kind);
      if (entry) {
        entry.count += 1;
        last = entry;
      } else if (counts.size < maxKinds) {
        counts.set(kind, { event, count: 0 });
        log.info({ ...event }, "refused");
      }
    },
    close() {
      clearInterval(timer);
      flush();
    },
  };
}

function isSameKind(one: RefusalEvent, other: RefusalEvent): boolean {
  return (
    one.code === other.code &&
    one.route === other.route &&
    one.door === other.door &&
    one.step === other.step &&
    one.requestClass === other.requestClass
  );
}
