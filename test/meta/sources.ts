import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";

/** The repository's own files, for tests about the repository. */
export const repoRoot = fileURLToPath(new URL("../..", import.meta.url));

const skippedFolders = new Set(["node_modules", "dist", "coverage", ".git"]);

/** Paths relative to the root, sorted, of all files below `folder` whose name ends with one of `endings`. */
export function filesBelow(folder: string, endings: readonly string[]): string[] {
  const found: string[] = [];
  const visit = (path: string): void => {
    for (const name of readdirSync(path)) {
      if (skippedFolders.has(name)) continue;
      const child = join(path, name);
      if (statSync(child).isDirectory()) visit(child);
      else if (endings.some((ending) => name.endsWith(ending))) found.push(relative(repoRoot, child));
    }
  };
  visit(join(repoRoot, folder));
  return found.sort();
}

/** The text of a file of the repository. */
export function readRepoFile(path: string): string {
  return readFileSync(join(repoRoot, path), "utf8");
}
