import { usageError } from "../cli-error.ts";
import type { Call } from "../command.ts";

export interface AskLineOptions {
  /** What is typed is not shown. */
  readonly isHidden?: boolean;
  readonly maxChars?: number;
}

/** Asks for a line on the terminal. Wrong usage, with `instead` as the way, where nobody can type. */
export function askLine(
  call: Call,
  question: string,
  instead: string,
  { isHidden = false, maxChars = 200 }: AskLineOptions = {},
): Promise<string> {
  const { keyboard, stderr } = call.io;
  if (keyboard === null) return Promise.reject(usageError(instead));
  const echo = (text: string): void => void stderr.write(text).catch(() => undefined); // What is not seen changes nothing.
  return new Promise((resolve, reject) => {
    let line = "";
    const stop = keyboard.listen((key) => {
      if (key === "\r" || key === "\n") finish(() => resolve(line));
      else if (key === "\u0003" || key === "\u0004") finish(() => reject(usageError(instead)));
      else if (key === "\u007f" || key === "\b") {
        if (line !== "" && !isHidden) echo("\b \b");
        line = line.slice(0, -1);
      } else if (key >= " " && line.length < maxChars) {
        line += key;
        if (!isHidden) echo(key);
      }
    });
    const finish = (end: () => void): void => {
      stop();
      echo("\n");
      end();
    };
    echo(question);
  });
}
