/**
 * The known name that a wrong one was most likely meant to be: fewest single-letter edits, and no more than half of
 * its length (at least 1, at most 3). Null when none is near.
 */
export function nearestKey(wrong: string, known: readonly string[]): string | null {
  if (wrong.length > 64) return null;
  const folded = wrong.toLowerCase().replaceAll("-", "_");
  const most = Math.min(3, Math.max(1, Math.floor(wrong.length / 2)));
  let best: { name: string; distance: number } | null = null;
  for (const name of known) {
    const distance = editDistance(folded, name);
    if (distance <= most && (best === null || distance < best.distance)) best = { name, distance };
  }
  return best?.name ?? null;
}

/** Edits of one letter (add, drop, change, swap of neighbours) that turn `a` into `b`. */
export function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      let cost = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + same);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        cost = Math.min(cost, (beforeLast[j - 2] ?? 0) + 1);
      row.push(cost);
    }
    beforeLast = last;
    last = row;
  }
  return last[b.length] ?? 0;
}
