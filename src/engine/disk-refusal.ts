import { SallyportError } from "../errors.ts";

const noRoom = new Set(["ENOSPC", "EDQUOT", "EFBIG"]);

/**
 * Turns an error of the file system into the refusal that a client sees (`disk_full`, 503); anything else is handed
 * back as it is. The path is for the log only.
 */
export function asDiskRefusal(error: unknown): unknown {
  if (error instanceof SallyportError || !(error instanceof Error)) return error;
  const { code } = error as NodeJS.ErrnoException;
  if (code === undefined || !/^E[A-Z0-9]+$/.test(code)) return error;
  const text = noRoom.has(code)
    ? `The daemon cannot write to its disk (${code}), so nothing was done. Free some space on its machine and try again.`
    : `A file in the daemon's home cannot be used (${code}), so nothing was done. The daemon's log names it.`;
  return new SallyportError("disk_full", text, { detail: error.message, cause: error });
}

/** Waits for a write and throws its failure as a refusal. */
export async function orRefuse<T>(write: Promise<T>): Promise<T> {
  try {
    return await write;
  } catch (error) {
    throw asDiskRefusal(error);
  }
}
