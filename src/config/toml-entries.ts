/** One statement of a TOML text, with its place, so that a change can leave everything else as it is. */
export interface TomlEntry {
  readonly kind: "table" | "assignment";
  /** From the root; the elements of an array of tables are counted: `door.0.listen`. */
  readonly path: readonly string[];
  /** From the beginning of its first line to behind its last line's newline. */
  readonly start: number;
  readonly end: number;
  /** Of the value; of a header, its own end twice. */
  readonly valueStart: number;
  readonly valueEnd: number;
}

/**
 * Finds the statements of a TOML text that a parser has accepted. Null where it meets something that it does not know: the
 * caller then changes nothing. Not a parser: values are only skipped.
 */
export function readTomlEntries(text: string): readonly TomlEntry[] | null {
  const entries: TomlEntry[] = [];
  const counts = new Map<string, number>();
  let table: readonly string[] = [];
  let at = 0;
  while (at < text.length) {
    const start = at;
    at = skipBlanks(text, at);
    const next = text[at];
    if (next === undefined) break;
    if (next === "#" || next === "\n" || next === "\r") {
      at = lineEnd(text, at);
      continue;
    }
    const isTable = next === "[";
    const isArray = isTable && text[at + 1] === "[";
    const key = readKey(text, isTable ? at + (isArray ? 2 : 1) : at);
    if (key === null) return null;
    if (isTable) {
      const name = key.parts.join("\0");
      const count = counts.get(name) ?? 0;
      if (isArray) counts.set(name, count + 1);
      table = isArray ? [...key.parts, String(count)] : key.parts;
      const end = lineEnd(text, key.end);
      entries.push({ kind: "table", path: table, start, end, valueStart: key.end, valueEnd: key.end });
      at = end;
      continue;
    }
    if (text[key.end] !== "=") return null;
    const valueStart = skipBlanks(text, key.end + 1);
    const valueEnd = endOfValue(text, valueStart);
    if (valueEnd === null) return null;
    at = lineEnd(text, valueEnd);
    entries.push({
      kind: "assignment",
      path: [...table, ...key.parts],
      start,
      end: at,
      valueStart,
      valueEnd,
    });
  }
  return entries;
}

function skipBlanks(text: string, from: number): number {
  let at = from;
  while (text[at] === " " || text[at] === "\t") at += 1;
  return at;
}

function lineEnd(text: string, from: number): number {
  const found = text.indexOf("\n", from);
  return found === -1 ? text.length : found + 1;
}

const bareKey = /[A-Za-z0-9_-]+/y;

/** A dotted key and the offset of what follows it and its blanks. */
function readKey(text: string, from: number): { readonly parts: string[]; readonly end: number } | null {
  const parts: string[] = [];
  let at = from;
  for (;;) {
    at = skipBlanks(text, at);
    const quote = text[at];
    if (quote === '"' || quote === "'") {
      const end = endOfString(text, at);
      if (end === null) return null;
      const inner = text.slice(at + 1, end - 1);
      // Escapes in keys are rare, and JSON's are not quite TOML's.
      if (quote === '"' && inner.includes("\\")) return null;
      parts.push(inner);
      at = end;
    } else {
      bareKey.lastIndex = at;
      const found = bareKey.exec(text)?.[0];
      if (found === undefined) return null;
      parts.push(found);
      at += found.length;
    }
    at = skipBlanks(text, at);
    if (text[at] !== ".") return { parts, end: at };
    at += 1;
  }
}

/** Offset behind a value, without the blanks and the comment that follow it. */
function endOfValue(text: string, from: number): number | null {
  let depth = 0;
  let at = from;
  let end = from;
  while (at < text.length) {
    const next = text[at];
    if (depth === 0 && (next === "#" || next === "\n")) break;
    if (next === "#") {
      at = lineEnd(text, at);
      continue;
    }
    if (next === '"' || next === "'") {
      const closed = endOfString(text, at);
      if (closed === null) return null;
      at = closed;
      end = at;
      continue;
    }
    if (next === "[" || next === "{") depth += 1;
    else if (next === "]" || next === "}") depth -= 1;
    at += 1;
    if (next !== " " && next !== "\t" && next !== "\r" && next !== "\n") end = at;
  }
  return depth === 0 && end > from ? end : null;
}

/** Offset behind the string that begins here, of one line or of several. */
function endOfString(text: string, from: number): number | null {
  const quote = text[from] ?? "";
  const isLong = text.startsWith(quote.repeat(3), from);
  const closing = isLong ? quote.repeat(3) : quote;
  let at = from + closing.length;
  while (at < text.length) {
    if (quote === '"' && text[at] === "\\") at += 2;
    else if (text.startsWith(closing, at)) {
      at += closing.length;
      // A long string may end with one or two quotes of its own.
      for (let own = 0; isLong && own < 2 && text[at] === quote; own += 1) at += 1;
      return at;
    } else if (!isLong && text[at] === "\n") return null;
    else at += 1;
  }
  return null;
}
