import { lstat } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { SallyportError } from "../../errors.ts";
import { openForAgent } from "../files/open-for-agent.ts";
import { type ProjectBounds, within } from "./project-bounds.ts";

/** Files that tell agents about a project, as tools of this kind look for them. */
const instructionNames = [
  "AGENTS.md",
  "SALLYPORT.md",
  "CLAUDE.md",
  "CLAUDE.local.md",
  "GEMINI.md",
  ".github/copilot-instructions.md",
  ".cursorrules",
  ".windsurfrules",
  ".clinerules",
] as const;
const maxLevels = 16;

export interface InstructionFile {
  /** Relative to the root of the repository, or to the folder where there is none. */
  readonly path: string;
  readonly bytes: number;
  /** Why it is passed over; null for one that can be read. */
  readonly skipped: string | null;
}

/** Finds the instruction files of a folder and of those above it, up to the repository's root: outermost first. */
export async function findInstructionFiles(
  cwd: string,
  root: string | null,
  bounds: ProjectBounds,
): Promise<readonly InstructionFile[]> {
  const top = root ?? cwd;
  const folders: string[] = [];
  for (let folder = cwd; folders.length < maxLevels; folder = dirname(folder)) {
    folders.unshift(folder);
    if (folder === top || dirname(folder) === folder) break;
  }
  const found: InstructionFile[] = [];
  for (const folder of folders) {
    for (const name of instructionNames) {
      const file = await look(join(folder, name), top, bounds);
      if (file) found.push({ path: relative(top, join(folder, name)), ...file });
    }
  }
  return found;
}

async function look(
  path: string,
  top: string,
  bounds: ProjectBounds,
): Promise<Omit<InstructionFile, "path"> | null> {
  const named = await lstat(path).catch(() => null);
  if (!named || named.isDirectory()) return null;
  // Many projects link one of these names to another: a link is fine while it stays inside.
  try {
    const opened = await openForAgent(path, within(top, bounds));
    await opened.handle.close();
    return { bytes: opened.stat.size, skipped: null };
  } catch (error) {
    if (!(error instanceof SallyportError)) throw error;
    return { bytes: named.size, skipped: error.message };
  }
}
