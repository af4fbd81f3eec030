import { pino } from "pino";
import type { Log } from "../lib/log.ts";
import { type LogFile, openLogFile } from "./log-file.ts";
import { redact } from "./redact.ts";

export interface DaemonLog extends Log {
  /** Strikes this very text out of all further lines: a master token that the user chose has no shape to know it by. */
  protect(secret: string): void;
  close(): void;
}

export interface DaemonLogOptions {
  readonly path: string;
  readonly level: "debug" | "info" | "warn" | "error";
  readonly now: () => number;
}

const maxBytes = 10 * 1024 * 1024;
const maxLinesPerSecond = 200;

/** Opens `daemon.log`: JSON lines, two files of 10 MB at most, secrets struck out of the finished line. */
export function createDaemonLog(options: DaemonLogOptions): DaemonLog {
  const file: LogFile = openLogFile({ path: options.path, maxBytes, maxLinesPerSecond, now: options.now });
  const secrets = new Set<string>();
  const logger = pino(
    { level: options.level, base: { pid: process.pid } },
    {
      write(line: string) {
        let text = line;
        for (const secret of secrets) text = text.replaceAll(secret, "[secret]");
        file.write(redact(text));
      },
    },
  );
  return {
    debug: (fields, message) => logger.debug(fields, message),
    info: (fields, message) => logger.info(fields, message),
    warn: (fields, message) => logger.warn(fields, message),
    error: (fields, message) => logger.error(fields, message),
    protect(secret) {
      if (secret !== "") secrets.add(secret);
    },
    close: () => file.close(),
  };
}
