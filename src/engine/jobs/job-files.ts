import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync, type Stats } from "node:fs";
import { type FileHandle, lstat, open, readdir, truncate, unlink } from "node:fs/promises";
import { join } from "node:path";
import { writeFileAtomic } from "../../lib/atomic-file.ts";
import { isJobId } from "../../lib/ids.ts";
import { migrateText } from "../../lib/migrate.ts";
import { type JobRecord, jobFormat, parseJobRecord } from "./job-record.ts";
import { parseExitFile } from "./shim.ts";

/** The largest command, escaped, and room for the rest. */
const maxRecordBytes = 1024 * 1024;
const maxExitBytes = 16;
const newLogFlags =
  constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
const appendFlags = constants.O_RDWR | constants.O_APPEND | constants.O_NOFOLLOW | constants.O_NONBLOCK;

export interface FolderListing {
  /** Ids with a `.json`. */
  readonly recorded: ReadonlySet<string>;
  /** Ids whose `.open` says that they were not finished: read these first. Only a hint. */
  readonly open: ReadonlySet<string>;
  /** Ids of which only other files are left. */
  readonly orphaned: ReadonlySet<string>;
  /** Temporary files that a crash left behind. */
  readonly temporary: readonly string[];
}

/** The files of jobs in one folder: `<id>.json`, `.log`, `.exit` and, while a job is not finished, `.open`. */
export interface JobFiles {
  logPath(id: string): string;
  exitPath(id: string): string;
  list(): Promise<FolderListing>;
  /** Creates the log and the `.open` mark. Null when the id is taken. */
  create(id: string): Promise<FileHandle | null>;
  write(record: JobRecord): Promise<void>;
  /** In a phrase what is wrong with a file that is damaged, a link, too large or of a newer version. Synchronous: one small file, so that a listing is never partial. */
  readRecord(id: string): JobRecord | string;
  /** The status that the shim wrote, and when; null when there is none. */
  readExit(id: string): { readonly code: number; readonly atMs: number } | null;
  /** Size of the log now; 0 when it is gone, or something else is in its place. */
  logBytes(id: string): Promise<number>;
  logBytesNow(id: string): number;
  appendLine(id: string, text: string): Promise<void>;
  /** Empties the log of a job that has ended. */
  clearLog(id: string): Promise<void>;
  markFinished(id: string): Promise<void>;
  remove(id: string): Promise<void>;
  removeTemporary(name: string): Promise<void>;
}

export function createJobFiles(folder: string): JobFiles {
  const path = (id: string, extension: string): string => join(folder, `${id}.${extension}`);
  const logPath = (id: string): string => path(id, "log");
  const exitPath = (id: string): string => path(id, "exit");

  return {
    logPath,
    exitPath,
    async list() {
      const recorded = new Set<string>();
      const open = new Set<string>();
      const others = new Set<string>();
      const temporary: string[] = [];
      for (const name of await readdir(folder)) {
        const [id = "", ...rest] = name.split(".");
        if (/^\.[0-9a-f]{8}\.json\..+\.tmp$/.test(name)) temporary.push(name);
        if (!isJobId(id)) continue;
        others.add(id);
        if (rest.join(".") === "json") recorded.add(id);
        if (rest.join(".") === "open") open.add(id);
      }
      return { recorded, open, orphaned: new Set([...others].filter((id) => !recorded.has(id))), temporary };
    },
    async create(id) {
      for (const extension of ["json", "exit", "exit.tmp", "open"])
        if (lstatSync(path(id, extension), { throwIfNoEntry: false })) return null;
      const log = await open(logPath(id), newLogFlags, 0o600).catch((error: NodeJS.ErrnoException) => {
        if (error.code === "EEXIST" || error.code === "ELOOP") return null;
        throw error;
      });
      if (log === null) return null;
      try {
        // A umask could have taken our own permission away.
        await log.chmod(0o600);
        await (await open(path(id, "open"), newLogFlags, 0o600)).close();
        return log;
      } catch (error) {
        await log.close();
        await unlink(logPath(id));
        throw error;
      }
    },
    write: (record) =>
      // No fsync: it would wait for the flood of another job, and what ran before a power cut is over anyway.
      writeFileAtomic(path(record.id, "json"), `${JSON.stringify(record)}\n`, { sync: false }),
    readRecord(id) {
      const text = readSmallFile(path(id, "json"), maxRecordBytes);
      if (text === null) return "it is damaged";
      const found = migrateText(text.text, jobFormat);
      return parseJobRecord(id, text.text) ?? (found.ok ? "it is damaged" : found.problem);
    },
    readExit(id) {
      // The shim may have died between the two steps of its rename.
      for (const name of [exitPath(id), `${exitPath(id)}.tmp`]) {
        const found = readSmallFile(name, maxExitBytes);
        const code = found === null ? null : parseExitFile(found.text);
        if (found !== null && code !== null) return { code, atMs: found.mtimeMs };
      }
      return null;
    },
    logBytes: (id) => lstat(logPath(id)).then(logSize, () => 0),
    logBytesNow(id) {
      try {
        return logSize(lstatSync(logPath(id)));
      } catch {
        // Gone, or not to be looked at: one log must not keep the daemon from starting.
        return 0;
      }
    },
    clearLog: (id) => truncate(logPath(id)),
    async appendLine(id, text) {
      const log = await open(logPath(id), appendFlags);
      try {
        const { size } = await log.stat();
        const last = Buffer.alloc(1);
        if (size > 0) await log.read(last, 0, 1, size - 1);
        await log.appendFile(size > 0 && last[0] !== 0x0a ? `\n${text}\n` : `${text}\n`);
      } finally {
        await log.close();
      }
    },
    markFinished: (id) => unlinkIfThere(path(id, "open")),
    async remove(id) {
      // The record last: without it the rest would be orphans that nobody lists.
      for (const extension of ["open", "exit.tmp", "exit", "log", "json"])
        await unlinkIfThere(path(id, extension));
    },
    removeTemporary: (name) => unlinkIfThere(join(folder, name)),
  };
}

function logSize(found: Stats): number {
  return found.isFile() ? found.size : 0;
}

function readSmallFile(
  path: string,
  maxBytes: number,
): { readonly text: string; readonly mtimeMs: number } | null {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch {
    // Not there, a link, or not readable: for the caller all the same.
    return null;
  }
  try {
    const found = fstatSync(fd);
    if (!found.isFile() || found.size > maxBytes) return null;
    return { text: readFileSync(fd, "utf8"), mtimeMs: found.mtimeMs };
  } catch {
    // A disk error: the file counts as damaged.
    return null;
  } finally {
    closeSync(fd);
  }
}

async function unlinkIfThere(path: string): Promise<void> {
  await unlink(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
  });
}
