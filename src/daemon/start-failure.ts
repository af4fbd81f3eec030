import { ConfigError } from "../config/config-error.ts";
import { CredentialsError } from "../config/credentials.ts";
import { SallyportError } from "../errors.ts";
import { StateFileError } from "../lib/state-file.ts";
import { StartupError } from "./startup-error.ts";

const unusable = new Set([
  "EROFS",
  "EACCES",
  "EPERM",
  "EIO",
  "ELOOP",
  "EISDIR",
  "ENOTDIR",
  "ENAMETOOLONG",
  // A link that leads nowhere, a socket, a pipe.
  "ENOENT",
  "ENXIO",
  "EINVAL",
  "EEXIST",
]);

/** Turns whatever stopped a start into what is told at the terminal. A fault of the program stays what it is. */
export function startFailure(error: unknown, home: string): unknown {
  if (error instanceof StartupError) return error;
  if (error instanceof ConfigError) return new StartupError("config", error.message, { cause: error });
  if (error instanceof CredentialsError) return new StartupError("secret", error.message, { cause: error });
  if (error instanceof StateFileError) return new StartupError("disk", error.message, { cause: error });
  if (error instanceof SallyportError)
    return new StartupError(error.code === "disk_full" ? "disk" : "secret", error.message, { cause: error });
  const { code, path, dest } = error as NodeJS.ErrnoException & { readonly dest?: string };
  // Of a rename, the place that it was meant for: the other is a temporary file.
  const where = dest ?? path ?? home;
  if (code === "ENOSPC" || code === "EDQUOT")
    return new StartupError(
      "disk",
      `The disk is full: ${where} could not be written. Make room, then start again.`,
      {
        cause: error,
      },
    );
  if (code !== undefined && unusable.has(code) && (code !== "ENOENT" || path !== undefined))
    return new StartupError(
      "disk",
      `${where} cannot be used (${code}). See to what it is, its owner, mode and disk, then start again.`,
      { cause: error },
    );
  return error;
}
