import { dirname } from "node:path";
import { makePrivateFolder, writeFileAtomic } from "../../lib/atomic-file.ts";
import { readSecretFile } from "../../lib/secret-file.ts";

const maxBytes = 256 * 1024 * 1024;

/** A file of things that can be found out again: deleting it costs time, never facts. */
export interface CacheFile<T> {
  /** Null when there is none, or it is of no use. Nothing in it is trusted before `parse` has seen it. */
  read(): Promise<T | null>;
  /** Writes it, or does nothing where the disk refuses. */
  write(value: T): Promise<void>;
}

/** @param parse null for a value of another form, e.g. of another version */
export function createCacheFile<T>(options: {
  readonly path: string;
  readonly parse: (value: unknown) => T | null;
  readonly report: (problem: string) => void;
}): CacheFile<T> {
  let reported = false;
  return {
    async read() {
      const file = await readSecretFile(options.path, maxBytes);
      if (!file.ok) return null;
      try {
        return options.parse(JSON.parse(file.text));
      } catch {
        // Damaged: it is found out again and written over.
        return null;
      }
    },
    async write(value) {
      try {
        await makePrivateFolder(dirname(options.path));
        await writeFileAtomic(options.path, JSON.stringify(value), { sync: false });
      } catch (error) {
        if (reported) return;
        reported = true;
        options.report(`${options.path} could not be written, so the next start is slower: ${String(error)}`);
      }
    },
  };
}
