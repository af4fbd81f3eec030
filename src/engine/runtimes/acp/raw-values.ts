/** What an agent sends is untrusted: each field is read for what it is, and left out where it is something else. */
export type RawObject = Readonly<Record<string, unknown>>;

const none: RawObject = {};

export function objectOf(raw: unknown): RawObject {
  return typeof raw === "object" && raw !== null && !Array.isArray(raw) ? (raw as RawObject) : none;
}

export function listOf(raw: unknown, maxCount: number): readonly unknown[] {
  return Array.isArray(raw) ? raw.slice(0, maxCount) : [];
}

export function textOf(raw: unknown, maxChars: number): string | null {
  return typeof raw === "string" ? cutText(raw, maxChars) : null;
}

/** A count of tokens or bytes; null for what is none. */
export function countOf(raw: unknown): number | null {
  return typeof raw === "number" && Number.isFinite(raw) && raw >= 0
    ? Math.min(Math.round(raw), Number.MAX_SAFE_INTEGER)
    : null;
}

/** Cuts a text without cutting a surrogate pair, and makes it well-formed. */
export function cutText(text: string, maxChars: number): string {
  const cut = text.length <= maxChars ? text : text.slice(0, maxChars);
  return cut.replace(/\p{Surrogate}/gu, "\ufffd");
}

const maxDepth = 16;
const maxEntries = 1_000;

/** A JSON value that is safe to keep and to show: bounded in depth, number and text; what is beyond is said to be left out. */
export function boundedValue(raw: unknown, maxChars: number): unknown {
  let left = maxChars;
  let entries = maxEntries;

  function take(value: unknown, depth: number): unknown {
    entries -= 1;
    if (entries < 0 || depth > maxDepth || left <= 0) return "[left out]";
    if (typeof value === "string") {
      const kept = cutText(value, left);
      left -= kept.length;
      return kept.length < value.length ? `${kept}[${value.length - kept.length} characters left out]` : kept;
    }
    if (typeof value !== "object" || value === null) return value;
    if (Array.isArray(value)) {
      const items: unknown[] = [];
      for (const item of value) {
        if (entries < 0) break;
        items.push(take(item, depth + 1));
      }
      return items;
    }
    const fields: [string, unknown][] = [];
    for (const [key, inner] of Object.entries(value)) {
      if (entries < 0) break;
      left -= key.length;
      fields.push([cutText(key, 200), take(inner, depth + 1)]);
    }
    return Object.fromEntries(fields);
  }

  return take(raw, 0);
}
