import { isAbsolute } from "node:path";
import { SallyportError } from "../../errors.ts";
import { limits } from "../../protocol/limits.ts";

/** The longest single argument of a program on Linux (MAX_ARG_STRLEN, execve(2)), without its NUL. */
export const maxCommandBytes = 128 * 1024 - 1;

/**
 * Refuses what could not reach the shell byte for byte. Throws `invalid_field` (empty, NUL, half a surrogate pair, a folder
 * that is no absolute path) or `too_large`.
 */
export function checkSpec(spec: { readonly command: string; readonly cwd: string }): void {
  const { command, cwd } = spec;
  if (command === "") throw refused("command", "The command is empty.");
  if (command.includes("\0")) throw refused("command", "A command cannot hold a NUL character.");
  if (/\p{Surrogate}/u.test(command)) throw refused("command", "The command is not valid Unicode.");
  if (Buffer.byteLength(command) > maxCommandBytes)
    throw new SallyportError(
      "too_large",
      `The command is over ${maxCommandBytes} bytes. Put it into a script and run that.`,
      { field: "command" },
    );
  if (!isAbsolute(cwd) || cwd.includes("\0") || /\p{Surrogate}/u.test(cwd))
    throw refused("cwd", "The folder must be an absolute path.");
  if (Buffer.byteLength(cwd) > limits.pathBytes)
    throw refused("cwd", `The path of the folder is over ${limits.pathBytes} bytes.`);
}

/** The environment of jobs: the daemon's own without anything of ours. The mark of the job is added to each. */
export function jobEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(environment))
    if (value !== undefined && !name.startsWith("SALLYPORT_")) kept[name] = value;
  return kept;
}

function refused(field: string, message: string): SallyportError {
  return new SallyportError("invalid_field", message, { field });
}
