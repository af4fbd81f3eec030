import { type Signal, signal } from "@preact/signals";

/** What the reader opened or closed, kept while its row is out of the page. */
export interface Expansions {
  of(key: string): Signal<boolean | null>;
}

const maxKept = 500;

/** The newest choices; null where none was made. */
export function createExpansions(): Expansions {
  const kept = new Map<string, Signal<boolean | null>>();
  return {
    of(key) {
      const known = kept.get(key) ?? signal<boolean | null>(null);
      kept.delete(key);
      kept.set(key, known);
      if (kept.size > maxKept) {
        const [oldest] = kept.keys();
        if (oldest !== undefined) kept.delete(oldest);
      }
      return known;
    },
  };
}
