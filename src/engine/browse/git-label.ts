import { lstat } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import { SallyportError } from "../../errors.ts";
import { type FileLimits, openForAgent } from "../files/open-for-agent.ts";
import { cleanLabel } from "../visible-text.ts";

const headBytes = 1_024;
const labelChars = 200;
const shortCommit = 8;

/**
 * The branch of the repository whose root is this folder, or the beginning of its commit; null where there is none. Git is
 * never run: `.git` is read, a worktree's or submodule's `gitdir:` followed once, and nothing outside the limits is opened.
 */
export async function gitLabel(folder: string, limits: FileLimits): Promise<string | null> {
  const dotGit = join(folder, ".git");
  const found = await lstat(dotGit).catch(() => null);
  if (!found) return null;
  if (!found.isFile()) return labelOf(await readStart(join(dotGit, "HEAD"), limits));
  const target = /^gitdir: ([^\n\0]+)/.exec((await readStart(dotGit, limits)) ?? "")?.[1]?.trim();
  if (!target) return null;
  return labelOf(await readStart(join(isAbsolute(target) ? target : join(folder, target), "HEAD"), limits));
}

function labelOf(head: string | null): string | null {
  const branch = /^ref: refs\/heads\/([^\n\0]+)/.exec(head ?? "")?.[1];
  if (branch !== undefined) return cleanLabel(branch, labelChars) || null;
  return /^[0-9a-f]{40}(?:[0-9a-f]{24})?(?=\s|$)/.exec(head ?? "")?.[0].slice(0, shortCommit) ?? null;
}

async function readStart(path: string, limits: FileLimits): Promise<string | null> {
  const opened = await openForAgent(path, limits).catch((error: unknown) => {
    // Off limits, gone or unreadable: then there is no label.
    if (error instanceof SallyportError) return null;
    throw error;
  });
  if (!opened) return null;
  try {
    const buffer = Buffer.alloc(headBytes);
    const { bytesRead } = await opened.handle.read(buffer, 0, headBytes, 0);
    return buffer.toString("utf8", 0, bytesRead);
  } finally {
    await opened.handle.close();
  }
}
