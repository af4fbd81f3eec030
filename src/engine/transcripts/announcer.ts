import type { EventSequence } from "./event-sequence.ts";

/** The place of one event in the stream, held while its record is being written. Exactly one of the two is called. */
export interface Slot {
  readonly seq: number;
  announce(announcement: () => void): void;
  drop(): void;
}

/**
 * Announces events in the order of their `seq`, over all agents: one whose record is still being written holds back
 * those behind it.
 */
export interface Announcer {
  /** Every event with a `seq` up to this was announced or dropped. */
  readonly announcedSeq: number;
  /** Places that are taken and not announced yet. */
  readonly waiting: number;
  take(): Slot;
}

/** @param sequence where each place has its number from */
export function createAnnouncer(sequence: EventSequence): Announcer {
  const places: { seq: number; ready: (() => void) | "dropped" | null }[] = [];
  let flushing = false;

  function flush(): void {
    // An announcement may take or fill places itself; they are seen by the loop that runs already.
    if (flushing) return;
    flushing = true;
    try {
      for (let first = places[0]; first && first.ready !== null; first = places[0]) {
        places.shift();
        if (first.ready !== "dropped") first.ready();
      }
    } finally {
      flushing = false;
    }
  }

  return {
    get announcedSeq() {
      return places[0] ? places[0].seq - 1 : sequence.last;
    },
    get waiting() {
      return places.length;
    },
    take() {
      const place: (typeof places)[number] = { seq: sequence.next(), ready: null };
      places.push(place);
      return {
        seq: place.seq,
        announce(announcement) {
          place.ready = announcement;
          flush();
        },
        drop() {
          place.ready = "dropped";
          flush();
        },
      };
    },
  };
}
