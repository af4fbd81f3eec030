const mark = "[secret]";

/** Strikes secrets out of texts, whole ones and such as come in pieces. */
export interface Striker {
  text(text: string): string;
  /** The same for every text in a value of objects and lists; what is neither stays as it is. */
  value<T>(value: T): T;
  stream(): StrikeStream;
}

export interface StrikeStream {
  /** What may be shown of it now. The end is held back while it could be the beginning of a secret. */
  push(piece: string): string;
  /** What was held back: nothing more follows. */
  flush(): string;
}

export function createStriker(secrets: readonly string[]): Striker {
  const known = [...new Set(secrets)].filter((each) => each !== "").sort((a, b) => b.length - a.length);
  const firsts = new Set(known.map((each) => each.charAt(0)));

  /** Up to where a text is settled, with the secrets struck out; `isEnd` when nothing can follow. */
  function strike(text: string, isEnd: boolean): { readonly shown: string; readonly held: string } {
    let shown = "";
    let from = 0;
    for (let at = 0; at < text.length; ) {
      if (!firsts.has(text.charAt(at))) {
        at += 1;
        continue;
      }
      // A longer one that may still be complete goes before a shorter one that is.
      const begins =
        !isEnd && known.some((each) => each.length > text.length - at && each.startsWith(text.slice(at)));
      if (begins) return { shown: shown + text.slice(from, at), held: text.slice(at) };
      const found = known.find((each) => text.startsWith(each, at));
      if (found === undefined) {
        at += 1;
        continue;
      }
      shown += text.slice(from, at) + mark;
      at += found.length;
      from = at;
    }
    return { shown: shown + text.slice(from), held: "" };
  }

  const text = (raw: string): string =>
    known.some((each) => raw.includes(each)) ? strike(raw, true).shown : raw;

  function value<T>(raw: T): T {
    if (typeof raw === "string") return text(raw) as T;
    if (Array.isArray(raw)) return raw.map(value) as T;
    if (!isPlain(raw)) return raw;
    return Object.fromEntries(Object.entries(raw).map(([name, each]) => [text(name), value(each)])) as T;
  }

  return {
    text,
    value: known.length === 0 ? (raw) => raw : value,
    stream() {
      let held = "";
      return {
        push(piece) {
          const struck = strike(held + piece, false);
          held = struck.held;
          return struck.shown;
        },
        flush() {
          const { shown } = strike(held, true);
          held = "";
          return shown;
        },
      };
    },
  };
}

function isPlain(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}
