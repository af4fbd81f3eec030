import { stat } from "node:fs/promises";

/** What tells one state of a file from another: two equal marks mean the same content for all that stat(2) knows. */
export type FileMark = string;

/** The mark of a file that is not there. */
export const absentMark: FileMark = "absent";

/** The mark of the file behind `path`, links followed. Never rejects: a file that cannot be looked at has a mark too. */
export async function fileMark(path: string): Promise<FileMark> {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true });
    return `${dev} ${ino} ${size} ${mtimeNs} ${ctimeNs}`;
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? "unknown";
    return code === "ENOENT" ? absentMark : `unreadable ${code}`;
  }
}

export interface WatchFileOptions {
  readonly path: string;
  /** The file as it was read last. */
  readonly known: FileMark;
  readonly lookMs: number;
  /** A file that is being written is left alone until it was the same for so long. */
  readonly settleMs: number;
  /** Editors remove a file before they put the new one in its place: it must be gone for so long. */
  readonly absentMs: number;
  readonly onChange: (mark: FileMark) => void;
}

/**
 * Looks at a file now and then and tells of each change once, when it has come to rest. Looking costs a stat(2); watching
 * by the system's own means would miss files behind links and on network disks. Returns how to stop.
 */
export function watchFile(options: WatchFileOptions): () => void {
  let seen = options.known;
  let stopped = false;
  let timer: NodeJS.Timeout;

  async function look(): Promise<void> {
    const mark = await fileMark(options.path);
    if (stopped) return;
    if (mark === seen) plan(look, options.lookMs);
    else plan(() => settle(mark), mark === absentMark ? options.absentMs : options.settleMs);
  }
  async function settle(before: FileMark): Promise<void> {
    const mark = await fileMark(options.path);
    if (stopped) return;
    if (mark === seen) plan(look, options.lookMs);
    else if (mark !== before)
      plan(() => settle(mark), mark === absentMark ? options.absentMs : options.settleMs);
    else {
      seen = mark;
      options.onChange(mark);
      plan(look, options.lookMs);
    }
  }
  function plan(next: () => Promise<void>, inMs: number): void {
    timer = setTimeout(() => void next(), inMs);
    timer.unref();
  }

  plan(look, options.lookMs);
  return () => {
    stopped = true;
    clearTimeout(timer);
  };
}
