import type { JobLife } from "./job-life.ts";
import { describe, type JobStore } from "./job-store.ts";
import { chooseRemovals, type EndedLog, type RetentionBounds } from "./retention.ts";

/** Old records are read in the background, a few at a time. */
const loadDelayMs = 500;
const loadPauseMs = 10;
const loadCount = 50;
const retainDelayMs = 1_000;
const retainEveryMs = 60 * 60 * 1000;
/** Agents run commands by the hundred; they stand in their transcripts as well. */
const maxEndedTerminals = 50;

export interface Housekeeping {
  /** A job has ended: look soon whether old ones must go. */
  jobEnded(): void;
  close(): void;
}

/** Reads old records without haste and removes what retention does not keep. */
export function keepHouse(options: {
  readonly store: JobStore;
  readonly life: JobLife;
  readonly bounds: RetentionBounds;
  readonly now: () => number;
  readonly onWarning: (message: string) => void;
}): Housekeeping {
  const { store, life, onWarning } = options;
  let soon: NodeJS.Timeout | null = null;
  let loading: NodeJS.Timeout | null = setTimeout(loadOld, loadDelayMs).unref();
  const hourly = setInterval(jobEnded, retainEveryMs).unref();

  function loadOld(): void {
    if (store.loadSome(loadCount)) {
      loading = setTimeout(loadOld, loadPauseMs).unref();
      return;
    }
    loading = null;
    retain();
  }

  function jobEnded(): void {
    // Until all are read it is not known which are the oldest.
    if (loading === null) soon ??= setTimeout(retain, retainDelayMs).unref();
  }

  function retain(): void {
    soon = null;
    let otherBytes = 0;
    const ended: EndedLog[] = [];
    const terminals: EndedLog[] = [];
    for (const entry of store.loaded.values()) {
      const { id, kind, bytes, ended: endedAt } = entry.record;
      if (life.active.has(entry) || endedAt === null) otherBytes += Math.max(bytes, entry.seenBytes);
      else (kind === "terminal" ? terminals : ended).push({ id, endedMs: Date.parse(endedAt), bytes });
    }
    const newestFirst = terminals.sort((one, other) => other.endedMs - one.endedMs);
    const kept = [...ended, ...newestFirst.slice(0, maxEndedTerminals)];
    const tooMany = newestFirst.slice(maxEndedTerminals).map(({ id }) => id);
    for (const id of [...tooMany, ...chooseRemovals(kept, otherBytes, options.bounds, options.now())])
      store
        .remove(id)
        .catch((error: unknown) => onWarning(`Old job ${id} could not be removed (${describe(error)}).`));
  }

  return {
    jobEnded,
    close() {
      if (soon !== null) clearTimeout(soon);
      if (loading !== null) clearTimeout(loading);
      clearInterval(hourly);
    },
  };
}
