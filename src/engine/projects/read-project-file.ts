import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { SallyportError } from "../../errors.ts";
import { openForAgent } from "../files/open-for-agent.ts";
import { type ProjectBounds, within } from "./project-bounds.ts";

export interface ProjectFile {
  readonly text: string;
  readonly bytes: number;
}

/**
 * Reads a small file of a project whole. Null for one that is missing, a link of either kind or below one, no regular
 * file, over the bound or off limits: a project must not lead us to other people's files.
 *
 * @param folder real path of the folder that the file belongs to
 * @param relative path below it
 */
export async function readProjectFile(
  folder: string,
  relative: string,
  bounds: ProjectBounds & { readonly maxBytes: number },
): Promise<ProjectFile | null> {
  const path = join(folder, relative);
  const named = await lstat(path).catch(() => null);
  if (!named?.isFile() || named.nlink > 1 || named.size > bounds.maxBytes) return null;
  const opened = await openForAgent(path, within(folder, bounds)).catch((error: unknown) => {
    // Gone meanwhile, unreadable or off limits: for a project it is not there.
    if (error instanceof SallyportError) return null;
    throw error;
  });
  if (!opened) return null;
  try {
    if (opened.realPath !== path || opened.stat.size > bounds.maxBytes) return null;
    const buffer = Buffer.alloc(opened.stat.size);
    let length = 0;
    while (length < buffer.byteLength) {
      const { bytesRead } = await opened.handle.read(buffer, length, buffer.byteLength - length, length);
      if (bytesRead === 0) break;
      length += bytesRead;
    }
    return { text: buffer.toString("utf8", 0, length), bytes: length };
  } finally {
    await opened.handle.close();
  }
}
