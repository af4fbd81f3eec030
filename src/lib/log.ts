type Fields = Readonly<Record<string, unknown>>;

/** What every folder may be given to write to. Fields hold no token, code or ticket; what looks like one is struck out. */
export interface Log {
  debug(fields: Fields, message: string): void;
  info(fields: Fields, message: string): void;
  warn(fields: Fields, message: string): void;
  error(fields: Fields, message: string): void;
}

/** For tests and for parts that run without a daemon. */
export const silentLog: Log = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};
