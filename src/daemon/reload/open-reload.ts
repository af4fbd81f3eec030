import type { Config } from "../../config/config.ts";
import type { ChangeLog } from "../../engine/change-log.ts";
import type { Log } from "../../lib/log.ts";
import type { LiveConfig } from "../live-config.ts";
import { type ConfigPart, createReloadConfig } from "./reload-config.ts";
import { absentMark, type FileMark, watchFile } from "./watch-file.ts";

export interface OpenReloadOptions {
  /** Of `config.toml`. */
  readonly path: string;
  /** The file as it was when the daemon started. */
  readonly mark: FileMark;
  readonly load: () => Promise<Config>;
  readonly live: LiveConfig;
  readonly parts: readonly ConfigPart[];
  /** Runs `work` while nobody else changes how far the daemon can be reached. */
  readonly undisturbed: (work: () => Promise<void>) => Promise<void>;
  readonly changeLog: Pick<ChangeLog, "append">;
  readonly log: Log;
}

export interface OpenedReload {
  /** Reads the file again because a person asked for it. */
  now(): void;
  close(): void;
}

const lookMs = 1_000;
const settleMs = 250;
const absentMs = 2_000;

/** Reads `config.toml` again when it changes, and when asked. */
export function openReload(options: OpenReloadOptions): OpenedReload {
  const { path, undisturbed } = options;
  let closed = false;
  const reload = createReloadConfig({
    load: options.load,
    live: options.live,
    parts: options.parts,
    announce: (change) => options.changeLog.append(change),
    log: options.log,
  });
  const run = (asked: boolean): void => {
    if (!closed) void undisturbed(() => (closed ? Promise.resolve() : reload.run(asked)));
  };
  const stop = watchFile({
    path,
    known: options.mark,
    lookMs,
    settleMs,
    absentMs,
    onChange(mark) {
      // Its deny rules would go with it: nobody loses those by a slip of an editor.
      if (mark === absentMark)
        reload.refuse(
          `${path} is gone. If that is meant, run: sallyport daemon stop, then: sallyport daemon start`,
        );
      else run(false);
    },
  });
  return {
    now: () => run(true),
    close() {
      closed = true;
      stop();
    },
  };
}
