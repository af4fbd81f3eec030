/**
 * Where rows of unknown heights stand in a list: measured heights where there are any, an estimate for the rest. Offsets
 * are in CSS pixels from the top of the first row. Only numbers; nothing here touches the page.
 */
export interface Heights {
  /** The rows, from top to bottom, by keys that stay with them. What was measured of a key is kept while it is there. */
  setKeys(keys: readonly string[]): void;
  readonly count: number;
  /** The height of all rows. */
  readonly total: number;
  indexOf(key: string): number | null;
  keyAt(index: number): string | null;
  heightAt(index: number): number;
  /** False while its height is an estimate: nobody has seen the row yet. */
  isMeasured(key: string): boolean;
  /** The top of the row; `count` gives the end of the last one. */
  offsetOf(index: number): number;
  /** The row that `offset` falls into; the first or last for what lies outside. 0 for an empty list. */
  indexAt(offset: number): number;
  /** Notes what a row measures. True when that changed something. */
  measure(key: string, px: number): boolean;
}

export interface HeightsOptions {
  /** The height of a row that was not measured yet. */
  readonly estimate: (key: string) => number;
}

export function createHeights({ estimate }: HeightsOptions): Heights {
  let keys: readonly string[] = [];
  let places = new Map<string, number>();
  let measured = new Map<string, number>();
  /** Tops of the rows, right up to `validUpTo`; the others are worked out when asked for. */
  let tops = new Float64Array(1);
  let validUpTo = 0;

  function heightAt(index: number): number {
    const key = keys[index];
    return key === undefined ? 0 : (measured.get(key) ?? estimate(key));
  }

  function topOf(index: number): number {
    for (; validUpTo < index; validUpTo += 1)
      tops[validUpTo + 1] = (tops[validUpTo] ?? 0) + heightAt(validUpTo);
    return tops[index] ?? 0;
  }

  return {
    setKeys(next) {
      let same = 0;
      while (same < next.length && same < keys.length && next[same] === keys[same]) same += 1;
      if (same === keys.length && same === next.length) return;
      const isLonger = same === keys.length;
      keys = next;
      if (isLonger)
        for (let index = same; index < next.length; index += 1) places.set(next[index] ?? "", index);
      else {
        places = new Map(next.map((key, index) => [key, index]));
        measured = new Map([...measured].filter(([key]) => places.has(key)));
      }
      if (tops.length <= next.length) {
        const grown = new Float64Array(Math.max(next.length + 1, tops.length * 2));
        grown.set(tops);
        tops = grown;
      }
      validUpTo = Math.min(validUpTo, same);
    },
    get count() {
      return keys.length;
    },
    get total() {
      return topOf(keys.length);
    },
    indexOf: (key) => places.get(key) ?? null,
    keyAt: (index) => keys[index] ?? null,
    heightAt,
    isMeasured: (key) => measured.has(key),
    offsetOf: (index) => topOf(Math.max(0, Math.min(index, keys.length))),
    indexAt(offset) {
      let low = 0;
      let high = keys.length - 1;
      // The last row whose top is not below the offset.
      while (low < high) {
        const middle = Math.ceil((low + high) / 2);
        if (topOf(middle) <= offset) low = middle;
        else high = middle - 1;
      }
      return Math.max(0, low);
    },
    measure(key, px) {
      const index = places.get(key);
      if (index === undefined || !Number.isFinite(px) || px < 0 || measured.get(key) === px) return false;
      const before = heightAt(index);
      measured.set(key, px);
      if (before === px) return false;
      validUpTo = Math.min(validUpTo, index);
      return true;
    },
  };
}
