/** A folder on the way to another one. */
export interface Crumb {
  readonly name: string;
  readonly path: string;
}

/** The way from `root` to `path`, both absolute with `/`; a path outside of the root is its own way. */
export function crumbsOf(root: string, path: string): readonly Crumb[] {
  const start: Crumb = { name: lastPart(root), path: root };
  if (path === root) return [start];
  const prefix = root.endsWith("/") ? root : `${root}/`;
  if (!path.startsWith(prefix)) return [{ name: lastPart(path), path }];
  const crumbs = [start];
  let at = prefix.slice(0, -1);
  for (const part of path.slice(prefix.length).split("/").filter(Boolean)) {
    at = `${at}/${part}`;
    crumbs.push({ name: part, path: at });
  }
  return crumbs;
}

/** Name of a folder: the last part of its path. */
export function lastPart(path: string): string {
  return path.split("/").filter(Boolean).at(-1) ?? "/";
}

/** Folders where something was done lately, the newest first, each once, without those that are open. */
export function recentFolders(
  sessions: readonly { readonly cwd: string | null }[],
  open: readonly string[],
  max: number,
): readonly string[] {
  const found = new Set<string>();
  for (const { cwd } of sessions) {
    if (cwd !== null && !open.includes(cwd)) found.add(cwd);
    if (found.size === max) break;
  }
  return [...found];
}
