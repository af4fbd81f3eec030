import { writeFileAtomic } from "./atomic-file.ts";
import { createBoundedQueue } from "./bounded-queue.ts";
import { type FileFormat, migrateText } from "./migrate.ts";
import { readSecretFile } from "./secret-file.ts";

/** The format of `state.json`, and how older ones become it. */
export const stateFormat: FileFormat = { version: 1, migrations: [] };
const maxBytes = 4 * 1024 * 1024;

/** Thrown when the state file cannot be trusted. The file is left as it is; the message names it and the next step. */
export class StateFileError extends Error {
  override readonly name = "StateFileError";
}

/** `state.json`: what the daemon decided at run time, in named sections that their owners parse. */
export interface StateFile {
  readonly path: string;
  /** The section as it was read or last written; undefined when it was never written. Untrusted until parsed. */
  get(section: string): unknown;
  /**
   * Replaces a section and writes the file (0600, in one step) before it resolves. Updates run one after the other and
   * each sees the one before. When the disk refuses, the promise rejects and the section stays what it was.
   */
  update(section: string, change: (current: unknown) => unknown): Promise<void>;
  /** Resolves when what was to be written so far is written, or refused. Never rejects. */
  drained(): Promise<void>;
  /** The error for a section that its owner cannot parse. */
  damaged(section: string): StateFileError;
}

/** Opens the state file; a missing one is empty, a damaged or unsafe one is a `StateFileError` and never overwritten. */
export async function openStateFile(options: { readonly path: string }): Promise<StateFile> {
  const { path } = options;
  const queue = createBoundedQueue({ maxWaiting: 10_000 });
  let sections: Readonly<Record<string, unknown>> = await load(path);

  return {
    path,
    get(section) {
      return Object.hasOwn(sections, section) ? sections[section] : undefined;
    },
    update(section, change) {
      return queue.run(async () => {
        const current = Object.hasOwn(sections, section) ? sections[section] : undefined;
        const next = { ...sections, [section]: change(current) };
        const text = `${JSON.stringify({ version: stateFormat.version, ...next }, null, 2)}\n`;
        if (Buffer.byteLength(text) > maxBytes) throw new TypeError("the state file would be too large");
        await writeFileAtomic(path, text);
        sections = next;
      });
    },
    drained: queue.drained,
    damaged: (section) => damagedError(path, `its section "${section}" is damaged`),
  };
}

async function load(path: string): Promise<Readonly<Record<string, unknown>>> {
  const file = await readSecretFile(path, maxBytes);
  if (!file.ok) {
    if (file.problem === "missing") return {};
    if (file.problem === "readable_by_others")
      throw new StateFileError(
        `${path} can be read by others (${file.detail}). Look at it, then: chmod 600 ${path}`,
      );
    throw damagedError(path, `it cannot be used: ${file.detail}`);
  }
  const found = migrateText(file.text, stateFormat);
  if (!found.ok) throw damagedError(path, found.problem);
  const { version: _version, ...sections } = found.value;
  return sections;
}

function damagedError(path: string, problem: string): StateFileError {
  return new StateFileError(
    `${path}: ${problem}. It was left as it is. Repair it, or set it aside (mv ${path} ${path}.aside): remote access is then off and folders are trusted anew when a tab is opened.`,
  );
}
