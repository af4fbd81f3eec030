import { usageError } from "../cli-error.ts";
import type { Call } from "../command.ts";

const maxChars = 200;

/** Asks for a line on the terminal; what is typed is shown. Wrong usage, with `instead` as the way, where nobody can type. */
export async function askLine(call: Call, question: string, instead: string): Promise<string> {
  const { keyboard, stderr } = call.io;
  if (keyboard === null) throw usageError(instead);
  await stderr.write(question);
  return new Promise((resolve, reject) => {
    let line = "";
    const stop = keyboard.listen((key) => {
      if (key === "\r" || key === "\n") finish(() => resolve(line));
      else if (key === "\u0003" || key === "\u0004") finish(() => reject(usageError(instead)));
      else if (key === "\u007f" || key === "\b") {
        if (line !== "") void stderr.write("\b \b").catch(() => undefined);
        line = line.slice(0, -1);
      } else if (key >= " " && line.length < maxChars) {
        line += key;
        void stderr.write(key).catch(() => undefined); // An echo that is not seen changes nothing.
      }
    });
    const finish = (end: () => void): void => {
      stop();
      void stderr.write("\n").catch(() => undefined);
      end();
    };
  });
}
