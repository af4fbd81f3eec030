import { parse, stringify } from "smol-toml";
import { readTomlEntries, type TomlEntry } from "./toml-entries.ts";

export type SettingValue = string | number | boolean | readonly (string | number | boolean)[];

/** Thrown when the text is written in a way that a change would lose or move something. */
export class PatchError extends Error {
  override readonly name = "PatchError";
}

/**
 * Sets one key of a TOML text, or takes it out (`null`), and leaves all else as it is: comments, order, blank lines. The
 * result is parsed and compared with the values that were asked for, so that a text which this simple look does not
 * understand is never damaged.
 *
 * @param text a TOML text that parses
 * @throws PatchError
 */
export function patchToml(text: string, path: readonly string[], value: SettingValue | null): string {
  const entries = readTomlEntries(text);
  if (entries === null) throw notPatchable();
  const next = value === null ? without(text, entries, path) : withValue(text, entries, path, value);
  let found: unknown;
  try {
    found = parse(next);
  } catch (error) {
    throw notPatchable(error);
  }
  const wanted = parse(text) as Record<string, unknown>;
  setIn(wanted, path, value);
  if (canonical(found) !== canonical(wanted)) throw notPatchable();
  return next;
}

function without(text: string, entries: readonly TomlEntry[], path: readonly string[]): string {
  const entry = entries.find((each) => each.kind === "assignment" && same(each.path, path));
  if (!entry) return text;
  // A comment behind the value stays, as a line of its own.
  const rest = text.slice(entry.valueEnd, entry.end);
  const comment = rest.trimStart().startsWith("#") ? rest.trimStart() : "";
  return text.slice(0, entry.start) + comment + text.slice(entry.end);
}

function withValue(
  text: string,
  entries: readonly TomlEntry[],
  path: readonly string[],
  value: SettingValue,
): string {
  const written = tomlValue(value);
  const set = entries.find((each) => each.kind === "assignment" && same(each.path, path));
  if (set) return text.slice(0, set.valueStart) + written + text.slice(set.valueEnd);
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  const table = path.slice(0, -1);
  const header = entries.findIndex((each) => each.kind === "table" && same(each.path, table));
  if (table.length > 0 && header === -1) {
    const line = `[${table.map(tomlKey).join(".")}]${eol}${tomlKey(path.at(-1) ?? "")} = ${written}${eol}`;
    const gap = text === "" ? "" : text.endsWith("\n") ? eol : eol + eol;
    return text + gap + line;
  }
  const line = `${tomlKey(path.at(-1) ?? "")} = ${written}${eol}`;
  const after = entries.slice(header + 1);
  const nextTable = after.findIndex((each) => each.kind === "table");
  const own = nextTable === -1 ? after : after.slice(0, nextTable);
  const last = own.at(-1) ?? entries[header];
  if (last) return insert(text, last.end, line, eol);
  const first = after[nextTable];
  return first
    ? insert(text, commentsBefore(text, first.start), line + eol, eol)
    : insert(text, text.length, line, eol);
}

/** Where the comment lines directly above an offset begin: they belong to what follows. */
function commentsBefore(text: string, offset: number): number {
  let at = offset;
  while (at > 0) {
    const lineStart = text.lastIndexOf("\n", at - 2) + 1;
    if (!text.slice(lineStart, at).trimStart().startsWith("#")) break;
    at = lineStart;
  }
  return at;
}

function insert(text: string, offset: number, line: string, eol: string): string {
  const before = text.slice(0, offset);
  const gap = before === "" || before.endsWith("\n") ? "" : eol;
  return before + gap + line + text.slice(offset);
}

function tomlValue(value: SettingValue): string {
  return stringify({ v: value }).trim().slice("v = ".length);
}

function tomlKey(key: string): string {
  return /^[A-Za-z0-9_-]+$/.test(key) ? key : JSON.stringify(key);
}

function same(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((part, index) => part === b[index]);
}

function setIn(root: Record<string, unknown>, path: readonly string[], value: SettingValue | null): void {
  let node = root;
  for (const part of path.slice(0, -1)) {
    const child = Object.hasOwn(node, part) ? node[part] : undefined;
    if (typeof child === "object" && child !== null && !Array.isArray(child))
      node = child as Record<string, unknown>;
    else {
      if (value === null) return;
      const made: Record<string, unknown> = {};
      node[part] = made;
      node = made;
    }
  }
  const last = path.at(-1) ?? "";
  if (value === null) delete node[last];
  else node[last] = value;
}

function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}

function notPatchable(cause?: unknown): PatchError {
  return new PatchError(
    "config.toml is written in a way that this change could lose something. Change it in the file.",
    { cause },
  );
}
