/**
 * The line (from 1) on which a key of a TOML text is set, for error texts; null where this simple look does not find it
 * (inline tables, quoted keys with escapes). `path` is dotted, with the index of an array of tables: `door.0.listen`.
 */
export function keyLine(text: string, path: readonly string[]): number | null {
  const counts = new Map<string, number>();
  let table: string[] = [];
  let tableLine: number | null = null;
  for (const [index, line] of text.split("\n").entries()) {
    const header = /^\s*(\[\[?)\s*([^\]]+?)\s*\]/.exec(line);
    if (header?.[2]) {
      table = keysOf(header[2]);
      if (header[1] === "[[") {
        const name = table.join(".");
        const count = counts.get(name) ?? 0;
        counts.set(name, count + 1);
        table = [...table, String(count)];
      }
      if (startsWith(table, path)) return index + 1;
      if (startsWith(path, table)) tableLine = index + 1;
      continue;
    }
    const assignment = /^\s*([A-Za-z0-9_."'-]+)\s*=/.exec(line);
    if (!assignment?.[1]) continue;
    const set = [...table, ...keysOf(assignment[1])];
    if (startsWith(path, set) || startsWith(set, path)) return index + 1;
  }
  return tableLine;
}

function keysOf(dotted: string): string[] {
  return dotted.split(".").map((key) => key.trim().replace(/^["'](.*)["']$/, "$1"));
}

function startsWith(whole: readonly string[], part: readonly string[]): boolean {
  return part.length <= whole.length && part.every((key, index) => whole[index] === key);
}
