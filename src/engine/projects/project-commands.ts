import { opendir } from "node:fs/promises";
import { join } from "node:path";
import { SallyportError } from "../../errors.ts";
import type { ProjectCommand } from "../../protocol/objects.ts";
import { engineLimits } from "../engine-limits.ts";
import { withFolder } from "../files/resolve-folder.ts";
import { isCommandName } from "../slash/slash-line.ts";
import { type CommandFile, parseCommandFile } from "./command-file.ts";
import { type ProjectBounds, within } from "./project-bounds.ts";
import { readProjectFile } from "./read-project-file.ts";

/** Where command files lie in a project. The first that has a name wins. */
const commandFolders = [".sallyport/commands", ".claude/commands"] as const;
const maxDepth = 3;

/**
 * The slash commands of some folders, nearest folder first, in the order of their names. A file in a subfolder is called
 * `folder:file`. Links, special files, files of more than 64 KiB and names that cannot be typed are passed over.
 */
export async function listCommands(
  folders: readonly string[],
  bounds: ProjectBounds,
): Promise<readonly ProjectCommand[]> {
  const found = new Map<string, ProjectCommand>();
  for (const folder of folders) {
    for (const source of commandFolders) {
      const scan = { left: engineLimits.projectEntriesScanned };
      for (const name of (await namesIn(folder, source, "", 1, bounds, scan)).sort()) {
        if (found.has(name) || found.size >= engineLimits.projectCommands) continue;
        const file = await readCommand(folder, source, name, bounds);
        if (!file) continue;
        found.set(name, {
          name,
          description: file.description,
          argument_hint: file.argumentHint,
          source: pathOf(source, name),
        });
      }
    }
  }
  return [...found.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** The file of one command; null where no folder has it. */
export async function findCommand(
  folders: readonly string[],
  name: string,
  bounds: ProjectBounds,
): Promise<CommandFile | null> {
  if (!isCommandName(name)) return null;
  for (const folder of folders) {
    for (const source of commandFolders) {
      const file = await readCommand(folder, source, name, bounds);
      if (file) return file;
    }
  }
  return null;
}

async function readCommand(
  folder: string,
  source: string,
  name: string,
  bounds: ProjectBounds,
): Promise<CommandFile | null> {
  const file = await readProjectFile(folder, pathOf(source, name), {
    ...bounds,
    maxBytes: engineLimits.projectCommandFileBytes,
  });
  return file && parseCommandFile(file.text);
}

function pathOf(source: string, name: string): string {
  return `${join(source, ...name.split(":"))}.md`;
}

async function namesIn(
  folder: string,
  path: string,
  prefix: string,
  depth: number,
  bounds: ProjectBounds,
  scan: { left: number },
): Promise<string[]> {
  const files: string[] = [];
  const subfolders: string[] = [];
  try {
    await withFolder(join(folder, path), within(folder, bounds), "path", async ({ handle, realPath }) => {
      // A link on the way leads to a folder that is not the project's.
      if (realPath !== join(folder, path)) return;
      const stablePath = process.platform === "linux" ? `/proc/self/fd/${handle.fd}` : realPath;
      for await (const entry of await opendir(stablePath)) {
        scan.left -= 1;
        if (scan.left < 0) return;
        if (entry.isFile() && entry.name.endsWith(".md")) files.push(prefix + entry.name.slice(0, -3));
        else if (entry.isDirectory() && depth < maxDepth) subfolders.push(entry.name);
      }
    });
  } catch (error) {
    if (!(error instanceof SallyportError)) throw error;
    // There is no such folder, or it is off limits: no commands.
    return [];
  }
  const names = files.filter(isCommandName);
  for (const sub of subfolders.sort())
    if (isCommandName(sub))
      names.push(...(await namesIn(folder, join(path, sub), `${prefix}${sub}:`, depth + 1, bounds, scan)));
  return names;
}
