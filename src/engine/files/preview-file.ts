import { isAbsolute, join, normalize, sep } from "node:path";
import { SallyportError } from "../../errors.ts";
import { type FileLimits, openForAgent } from "./open-for-agent.ts";

/**
 * The absolute path of what a client names relative to a folder. Throws `path_refused` for what leads out of it by its
 * words alone; where links lead is looked at when it is opened.
 */
export function pathBelow(folder: string, rawPath: string): string {
  const path = normalize(rawPath === "" ? "." : rawPath);
  if (isAbsolute(rawPath) || path === ".." || path.startsWith(`..${sep}`))
    throw new SallyportError(
      "path_refused",
      "Give a path relative to the session's folder, and not out of it.",
      {
        field: "path",
      },
    );
  return path === "." || path === `.${sep}` ? folder : join(folder, path);
}

/**
 * The beginning of a file, cut between two characters. What is no UTF-8 becomes U+FFFD. Throws as `openForAgent` does.
 *
 * @param maxBytes of the file
 */
export async function previewFile(
  path: string,
  bounds: FileLimits,
  maxBytes: number,
): Promise<{ readonly text: string; readonly truncated: boolean }> {
  const { handle } = await openForAgent(path, bounds);
  try {
    const buffer = Buffer.alloc(maxBytes + 1);
    let length = 0;
    while (length < buffer.length) {
      const { bytesRead } = await handle.read(buffer, length, buffer.length - length, length);
      if (bytesRead === 0) break;
      length += bytesRead;
    }
    const truncated = length > maxBytes;
    let end = Math.min(length, maxBytes);
    // A byte 10xxxxxx goes on with a character that began before it.
    if (truncated)
      for (let step = 0; step < 3 && end > 0 && ((buffer[end] ?? 0) & 0xc0) === 0x80; step += 1) end -= 1;
    return { text: buffer.toString("utf8", 0, end), truncated };
  } finally {
    await handle.close();
  }
}
