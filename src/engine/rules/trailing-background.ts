import { parse } from "unbash";

const maxLineChars = 128 * 1024;
// After the operator only blanks and comments; before it something that is not an operator itself.
const tail = /^&[ \t\n]*(?:#[^\n]*(?:\n[ \t\n]*|$))*$/;

/**
 * The command without a really trailing `&` control operator, or null if the line does not end in one: `&&`, `|&`, `\&`,
 * a quoted or commented `&` and one inside a group or heredoc are none.
 */
export function splitTrailingBackground(line: string): string | null {
  if (line.length > maxLineChars || !line.includes("&") || /[^\P{C}\n\t]/u.test(line)) return null;
  try {
    const script = parse(line);
    const last = script.commands.at(-1);
    if (!last?.background || (script.errors && script.errors.length > 0)) return null;
    const before = line.slice(0, last.command.end);
    const operator = /^[ \t]*(?=&)/.exec(line.slice(last.command.end));
    const rest = operator ? line.slice(last.command.end + operator[0].length) : "";
    return tail.test(rest) && before.trim() !== "" ? before.trim() : null;
  } catch {
    // What the parser cannot read is run as it is.
    return null;
  }
}
