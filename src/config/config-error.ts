/** What is wrong with `config.toml`, for the person who wrote it. The message names the file, the line and the next step. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  /** Dotted, as written in the file (`door.0.listen`); null when the file as a whole is wrong. */
  readonly key: string | null;
  /** Counted from 1; null where it is not known. */
  readonly line: number | null;

  constructor(message: string, where: { key?: string; line?: number | null; cause?: unknown } = {}) {
    super(message, where.cause === undefined ? undefined : { cause: where.cause });
    this.key = where.key ?? null;
    this.line = where.line ?? null;
  }
}

/** One problem that a rule found; the loader adds file and line. */
export interface ConfigProblem {
  readonly key: string;
  readonly message: string;
}
