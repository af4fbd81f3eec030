/** Beyond this many changed lines the middle is shown as replaced: finding the shortest script would take too long. */
const maxEdits = 600;
/** The same when so many characters were compared: lines that repeat are compared again and again. */
const maxComparedChars = 32 * 1024 * 1024;
/** What looking at a line costs beside its characters. */
const lineChars = 16;
const contextLines = 3;

/** Lines `from` to before `to` of the old text become lines `newFrom` to before `newTo` of the new one. */
interface Block {
  readonly from: number;
  readonly to: number;
  readonly newFrom: number;
  readonly newTo: number;
}

export interface BoundedDiff {
  readonly patch: string;
  /** False: the bound cut something off, and the patch says so in its last line. */
  readonly isWhole: boolean;
}

/**
 * A patch in unified form between two texts; empty when they are the same. `before` null: the file is new.
 *
 * @param path as it is to stand in the header, one line
 */
export function unifiedDiff(path: string, before: string | null, after: string): string {
  return boundedDiff(path, before, after, Number.POSITIVE_INFINITY).patch;
}

/** The same, of about `maxChars` characters at most. Takes time in proportion to the texts, whatever they are. */
export function boundedDiff(
  path: string,
  before: string | null,
  after: string,
  maxChars: number,
): BoundedDiff {
  if (before === after) return { patch: "", isWhole: true };
  const old = linesOf(before ?? "");
  const now = linesOf(after);
  const blocks = findBlocks(old, now);
  const name = path.replace(/[\n\r\t]/g, " ");
  const header = `--- ${before === null ? "/dev/null" : name}\n+++ ${name}\n`;
  const page = createPage(header, maxChars);
  for (const hunk of hunksOf(blocks)) {
    if (page.isFull) break;
    writeHunk(page, hunk, old, now);
  }
  if (!page.isFull) return { patch: page.text(), isWhole: true };
  const changed = blocks.reduce((sum, each) => sum + each.to - each.from + each.newTo - each.newFrom, 0);
  return {
    patch: `${page.text()}\n\\ Not shown from here on: ${changed - page.changed} changed lines\n`,
    isWhole: false,
  };
}

/** Lines without their ends; a last line without one is marked as patches do. */
function linesOf(text: string): string[] {
  if (text === "") return [];
  const lines = text.split("\n");
  const last = lines.pop() ?? "";
  if (last !== "") lines.push(`${last}\n\\ No newline at end of file`);
  return lines;
}

function findBlocks(old: readonly string[], now: readonly string[]): readonly Block[] {
  let head = 0;
  while (head < old.length && head < now.length && old[head] === now[head]) head += 1;
  let tail = 0;
  while (
    tail < old.length - head &&
    tail < now.length - head &&
    old[old.length - 1 - tail] === now[now.length - 1 - tail]
  )
    tail += 1;
  const whole = { from: head, to: old.length - tail, newFrom: head, newTo: now.length - tail };
  if (whole.from === whole.to || whole.newFrom === whole.newTo) return [whole];
  const found = shortestScript(old.slice(head, whole.to), now.slice(head, whole.newTo));
  if (found === null) return [whole];
  return found.map(({ from, to, newFrom, newTo }) => ({
    from: from + head,
    to: to + head,
    newFrom: newFrom + head,
    newTo: newTo + head,
  }));
}

/** Myers, "An O(ND) Difference Algorithm" (1986), greedy. Null beyond the bounds of edits and of work. */
function shortestScript(before: readonly string[], after: readonly string[]): Block[] | null {
  const reach = Math.min(before.length + after.length, maxEdits);
  const furthest = new Int32Array(2 * reach + 3);
  const trace: Int32Array[] = [];
  const at = (k: number): number => furthest[k + reach + 1] ?? 0;
  let comparedChars = 0;
  for (let edits = 0; edits <= reach && comparedChars < maxComparedChars; edits += 1) {
    trace.push(furthest.slice());
    for (let k = -edits; k <= edits; k += 2) {
      let x = k === -edits || (k !== edits && at(k - 1) < at(k + 1)) ? at(k + 1) : at(k - 1) + 1;
      while (x < before.length && x - k < after.length && before[x] === after[x - k]) {
        comparedChars += (before[x]?.length ?? 0) + lineChars;
        x += 1;
      }
      furthest[k + reach + 1] = x;
      if (x >= before.length && x - k >= after.length)
        return walkBack(before.length, after.length, trace, reach);
    }
  }
  return null;
}

/** From the end to the beginning, edit by edit; neighbouring edits are one block. */
function walkBack(oldLines: number, newLines: number, trace: readonly Int32Array[], reach: number): Block[] {
  const blocks: Block[] = [];
  let x = oldLines;
  let y = newLines;
  for (let edits = trace.length - 1; edits > 0; edits -= 1) {
    const furthest = trace[edits];
    const at = (k: number): number => furthest?.[k + reach + 1] ?? 0;
    const k = x - y;
    const down = k === -edits || (k !== edits && at(k - 1) < at(k + 1));
    const fromX = at(down ? k + 1 : k - 1);
    const fromY = fromX - (down ? k + 1 : k - 1);
    const edit: Block = down
      ? { from: fromX, to: fromX, newFrom: fromY, newTo: fromY + 1 }
      : { from: fromX, to: fromX + 1, newFrom: fromY, newTo: fromY };
    const next = blocks.at(-1);
    if (next && next.from === edit.to && next.newFrom === edit.newTo)
      blocks[blocks.length - 1] = { ...next, from: edit.from, newFrom: edit.newFrom };
    else blocks.push(edit);
    x = fromX;
    y = fromY;
  }
  return blocks.reverse();
}

/** Blocks whose lines around them touch are shown together. */
function hunksOf(blocks: readonly Block[]): Block[][] {
  const hunks: Block[][] = [];
  for (const block of blocks) {
    const hunk = hunks.at(-1);
    const last = hunk?.at(-1);
    if (hunk && last && block.from - last.to <= 2 * contextLines) hunk.push(block);
    else hunks.push([block]);
  }
  return hunks;
}

interface Page {
  add(kind: " " | "-" | "+" | "@", line: string): void;
  /** A line was cut, or left out. */
  readonly isFull: boolean;
  /** Changed lines on it. */
  readonly changed: number;
  text(): string;
}

function createPage(header: string, maxChars: number): Page {
  const parts = [header];
  let left = maxChars - header.length;
  let isFull = false;
  let changed = 0;
  return {
    add(kind, line) {
      if (isFull) return;
      const text = kind === "@" ? line : `${kind}${line}`;
      isFull = text.length + 1 > left;
      if (!isFull && (kind === "-" || kind === "+")) changed += 1;
      // Half of a character is none.
      parts.push(isFull ? text.slice(0, Math.max(0, left)).replace(/[\ud800-\udbff]$/, "") : `${text}\n`);
      left -= text.length + 1;
    },
    get isFull() {
      return isFull;
    },
    get changed() {
      return changed;
    },
    text: () => parts.join(""),
  };
}

function writeHunk(
  page: Page,
  blocks: readonly Block[],
  old: readonly string[],
  now: readonly string[],
): void {
  const [first] = blocks;
  const last = blocks.at(-1);
  if (!first || !last) return;
  const lead = Math.min(contextLines, first.from);
  const trail = Math.min(contextLines, old.length - last.to);
  const range = (from: number, to: number): string => `${from + (to === from ? 0 : 1)},${to - from}`;
  const oldRange = range(first.from - lead, last.to + trail);
  page.add("@", `@@ -${oldRange} +${range(first.newFrom - lead, last.newTo + trail)} @@`);
  const addAll = (kind: " " | "-" | "+", lines: readonly string[], from: number, to: number): void => {
    for (let at = from; at < to && !page.isFull; at += 1) page.add(kind, lines[at] ?? "");
  };
  let at = first.from - lead;
  for (const { from, to, newFrom, newTo } of blocks) {
    addAll(" ", old, at, from);
    addAll("-", old, from, to);
    addAll("+", now, newFrom, newTo);
    at = to;
  }
  addAll(" ", old, at, last.to + trail);
}
