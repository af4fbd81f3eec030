import { collectDiff, type Diff, type DiffRow, maxDiffRows } from "./diff-row.ts";
import { linesOf } from "./parse-patch.ts";

/** Lines around a change that stay visible. */
const contextLines = 3;
/** More differences than these are not looked for: then everything in between is shown as replaced. */
const maxEdits = 400;
const maxLines = 20_000;

/**
 * What turns `before` into `after`, line by line. By Myers' algorithm (An O(ND) Difference Algorithm, 1986), whose work is
 * bounded here: texts that differ too much show as removed and added whole.
 */
export function compareTexts(before: string, after: string, maxRows = maxDiffRows): Diff {
  const old = [...linesOf(before)];
  const next = [...linesOf(after)];
  let start = 0;
  while (start < old.length && start < next.length && old[start] === next[start]) start += 1;
  let end = 0;
  while (
    end < old.length - start &&
    end < next.length - start &&
    old[old.length - 1 - end] === next[next.length - 1 - end]
  )
    end += 1;
  const changed = editsBetween(old.slice(start, old.length - end), next.slice(start, next.length - end));
  const edits: Edit[] = [
    ...new Array<Edit>(start).fill("same"),
    ...changed,
    ...new Array<Edit>(end).fill("same"),
  ];
  return collectDiff(withGaps(rowsOf(edits, old, next)), maxRows);
}

type Edit = "same" | "added" | "removed";

function editsBetween(old: readonly string[], next: readonly string[]): readonly Edit[] {
  const replaced = (): Edit[] => [
    ...new Array<Edit>(old.length).fill("removed"),
    ...new Array<Edit>(next.length).fill("added"),
  ];
  if (old.length === 0 || next.length === 0 || old.length + next.length > maxLines) return replaced();
  const trace = search(old, next);
  return trace === null ? replaced() : walkBack(trace, old.length, next.length);
}

/** For each number of edits the furthest place on each diagonal; null when there are too many edits. */
function search(old: readonly string[], next: readonly string[]): readonly Int32Array[] | null {
  const most = Math.min(old.length + next.length, maxEdits);
  const middle = most + 1;
  const furthest = new Int32Array(2 * most + 3);
  const trace: Int32Array[] = [];
  for (let edits = 0; edits <= most; edits += 1) {
    trace.push(furthest.slice(middle - edits - 1, middle + edits + 2));
    for (let diagonal = -edits; diagonal <= edits; diagonal += 2) {
      const goesDown = isDown(diagonal, edits, (at) => furthest[middle + at] ?? 0);
      let x = goesDown ? (furthest[middle + diagonal + 1] ?? 0) : (furthest[middle + diagonal - 1] ?? 0) + 1;
      let y = x - diagonal;
      while (x < old.length && y < next.length && old[x] === next[y]) {
        x += 1;
        y += 1;
      }
      furthest[middle + diagonal] = x;
      if (x >= old.length && y >= next.length) return trace;
    }
  }
  return null;
}

function isDown(diagonal: number, edits: number, furthest: (diagonal: number) => number): boolean {
  return diagonal === -edits || (diagonal !== edits && furthest(diagonal - 1) < furthest(diagonal + 1));
}

function walkBack(trace: readonly Int32Array[], oldLength: number, nextLength: number): Edit[] {
  const reversed: Edit[] = [];
  let x = oldLength;
  let y = nextLength;
  for (let edits = trace.length - 1; edits >= 0; edits -= 1) {
    const row = trace[edits];
    const furthest = (diagonal: number): number => row?.[diagonal + edits + 1] ?? 0;
    const diagonal = x - y;
    const goesDown = isDown(diagonal, edits, furthest);
    const from = goesDown ? diagonal + 1 : diagonal - 1;
    const fromX = edits === 0 ? 0 : furthest(from);
    const fromY = edits === 0 ? 0 : fromX - from;
    const stepX = goesDown ? fromX : fromX + 1;
    while (x > (edits === 0 ? 0 : stepX) && y > 0) {
      reversed.push("same");
      x -= 1;
      y -= 1;
    }
    if (edits > 0) reversed.push(goesDown ? "added" : "removed");
    x = fromX;
    y = fromY;
  }
  return reversed.reverse();
}

function* rowsOf(
  edits: readonly Edit[],
  old: readonly string[],
  next: readonly string[],
): Generator<DiffRow> {
  let x = 0;
  let y = 0;
  for (const kind of edits) {
    const text = (kind === "added" ? next[y] : old[x]) ?? "";
    yield { kind, old: kind === "added" ? null : x + 1, new: kind === "removed" ? null : y + 1, text };
    if (kind !== "added") x += 1;
    if (kind !== "removed") y += 1;
  }
}

/** Leaves out what is the same, but for a few lines around each change. */
function* withGaps(rows: Iterable<DiffRow>): Generator<DiffRow> {
  let waiting: DiffRow[] = [];
  let skipped = 0;
  let sinceChange = Number.POSITIVE_INFINITY;
  for (const row of rows) {
    if (row.kind === "same") {
      if (sinceChange < contextLines) {
        sinceChange += 1;
        yield row;
        continue;
      }
      waiting.push(row);
      if (waiting.length > contextLines) {
        waiting = waiting.slice(1);
        skipped += 1;
      }
      continue;
    }
    if (skipped > 0) yield { kind: "gap", old: null, new: null, text: "" };
    yield* waiting;
    waiting = [];
    skipped = 0;
    sinceChange = 0;
    yield row;
  }
}
