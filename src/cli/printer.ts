import type { Io } from "./io.ts";

/** Where a command's words go: people-text on stdout, or on stderr once `--json` has stdout for itself. */
export interface Printer {
  /** A line for people. Names, titles and paths in it have been through `inline`. */
  line(text: string): Promise<void>;
  /** A line for people that is never part of the result: always stderr. */
  note(text: string): Promise<void>;
  /** The one JSON value of `--json`, or one event a line. */
  json(value: unknown): Promise<void>;
}

export function createPrinter(io: Io, json: boolean): Printer {
  return {
    line: (text) => (json ? io.stderr : io.stdout).write(`${text}\n`),
    note: (text) => io.stderr.write(`${text}\n`),
    json: (value) => io.stdout.write(`${JSON.stringify(value)}\n`),
  };
}

/** Rows as columns of equal width. Widths count code points: good enough for ids, names and paths. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows)
    row.forEach((cell, column) => {
      widths[column] = Math.max(widths[column] ?? 0, [...cell].length);
    });
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell + " ".repeat((widths[column] ?? 0) - [...cell].length))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}
