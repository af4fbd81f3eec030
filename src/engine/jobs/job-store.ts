import type { FileHandle } from "node:fs/promises";
import { newJobId } from "../../lib/ids.ts";
import { createEntry, isRunning, type JobEntry } from "./job-entry.ts";
import type { JobFiles } from "./job-files.ts";

export interface JobStoreOptions {
  readonly files: JobFiles;
  readonly onWarning: (message: string) => void;
  readonly createId?: () => string;
}

/** All jobs and calls: those in memory and, until they are asked for, those that are only on disk. */
export interface JobStore {
  /** Those that are already in memory. */
  readonly loaded: ReadonlyMap<string, JobEntry>;
  get(id: string): JobEntry | null;
  /** Reads what is only on disk and returns all. */
  all(): Iterable<JobEntry>;
  /** Reads up to `most` of those that are only on disk; false when none are left. */
  loadSome(most: number): boolean;
  /** Takes a free id and creates its log. */
  reserve(): Promise<{ readonly id: string; readonly log: FileHandle }>;
  add(entry: JobEntry): void;
  /** Writes the record as it is by then. Never rejects: a failure is reported, and tried again by `saveAgain`. */
  save(entry: JobEntry): Promise<void>;
  saveAgain(): void;
  remove(id: string): Promise<void>;
}

/**
 * Opens the folder's listing. Records with an `.open` mark are read now, the others when they are first needed: ten
 * thousand old jobs must not delay a start. A damaged record is reported, skipped and left where it is.
 * `onFound` is called for each record as it is read.
 */
export async function createJobStore(
  options: JobStoreOptions,
  onFound: (entry: JobEntry) => void,
): Promise<JobStore> {
  const { files, onWarning } = options;
  const createId = options.createId ?? newJobId;
  const loaded = new Map<string, JobEntry>();
  const unsaved = new Set<JobEntry>();
  const listing = await files.list();
  const unread = new Set(listing.recorded);
  const taken = new Set([...listing.recorded, ...listing.orphaned]);

  function load(id: string): JobEntry | null {
    if (!unread.delete(id)) return loaded.get(id) ?? null;
    const record = files.readRecord(id);
    if (typeof record === "string") {
      onWarning(
        `jobs/${id}.json was skipped: ${record}. It was left in place; remove it if it is not needed.`,
      );
      return null;
    }
    const entry = createEntry(record, false);
    loaded.set(id, entry);
    onFound(entry);
    return entry;
  }

  function save(entry: JobEntry): Promise<void> {
    const written = entry.saving.then(async () => {
      if (entry.removed) return;
      try {
        await files.write(entry.record);
        unsaved.delete(entry);
      } catch (error) {
        unsaved.add(entry);
        onWarning(
          `jobs/${entry.record.id}.json could not be written (${describe(error)}); it is tried again.`,
        );
      }
    });
    entry.saving = written;
    return written;
  }

  for (const name of listing.temporary) await files.removeTemporary(name);
  // The daemon died between making the two files of a job that then never started.
  for (const id of listing.orphaned)
    if (!listing.open.has(id) && files.logBytesNow(id) === 0) await files.remove(id);
  for (const id of listing.open) {
    if (listing.recorded.has(id)) load(id);
    // The daemon died between making the files and starting the command.
    else if (files.logBytesNow(id) === 0) await files.remove(id);
  }

  return {
    loaded,
    get: load,
    all() {
      for (const id of [...unread]) load(id);
      return loaded.values();
    },
    loadSome(most) {
      let left = most;
      for (const id of unread) {
        if (left === 0) return true;
        left -= 1;
        load(id);
      }
      return false;
    },
    async reserve() {
      for (;;) {
        const id = createId();
        if (taken.has(id)) continue;
        taken.add(id);
        const log = await files.create(id).catch((error: unknown) => {
          taken.delete(id);
          throw error;
        });
        if (log !== null) return { id, log };
      }
    },
    add: (entry) => {
      loaded.set(entry.record.id, entry);
    },
    save,
    saveAgain() {
      for (const entry of unsaved) void save(entry);
    },
    async remove(id) {
      const entry = loaded.get(id);
      if (entry) {
        if (isRunning(entry)) throw new TypeError("a running job cannot be removed");
        entry.removed = true;
        unsaved.delete(entry);
        await entry.saving;
      }
      await files.remove(id);
      loaded.delete(id);
      taken.delete(id);
    },
  };
}

export function describe(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return code ?? message;
}
