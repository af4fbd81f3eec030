/** Beyond this many changed lines the middle is shown as replaced: finding the shortest script would take too long. */
const maxEdits = 600;
const contextLines = 3;

type Step = readonly [kind: " " | "-" | "+", line: string];

/**
 * A patch in unified form between two texts; empty when they are the same. `before` null: the file is new.
 *
 * @param path as it is to stand in the header, one line
 */
export function unifiedDiff(path: string, before: string | null, after: string): string {
  if (before === after) return "";
  const steps = diffLines(linesOf(before ?? ""), linesOf(after));
  const name = path.replace(/[\n\r\t]/g, " ");
  const header = `--- ${before === null ? "/dev/null" : name}\n+++ ${name}\n`;
  return header + hunksOf(steps).join("");
}

/** Lines without their ends; a last line without one is marked as patches do. */
function linesOf(text: string): string[] {
  if (text === "") return [];
  const lines = text.split("\n");
  const last = lines.pop() ?? "";
  return last === "" ? lines : [...lines, `${last}\n\\ No newline at end of file`];
}

function diffLines(before: readonly string[], after: readonly string[]): Step[] {
  let head = 0;
  while (head < before.length && head < after.length && before[head] === after[head]) head += 1;
  let tail = 0;
  while (
    tail < before.length - head &&
    tail < after.length - head &&
    before[before.length - 1 - tail] === after[after.length - 1 - tail]
  )
    tail += 1;
  const kept = (lines: readonly string[]): Step[] => lines.map((line) => [" ", line]);
  return [
    ...kept(before.slice(0, head)),
    ...shortestScript(before.slice(head, before.length - tail), after.slice(head, after.length - tail)),
    ...kept(before.slice(before.length - tail)),
  ];
}

/** Myers, "An O(ND) Difference Algorithm" (1986), greedy. */
function shortestScript(before: readonly string[], after: readonly string[]): Step[] {
  const replaced = (): Step[] => [
    ...before.map((line): Step => ["-", line]),
    ...after.map((line): Step => ["+", line]),
  ];
  if (before.length === 0 || after.length === 0) return replaced();
  const reach = Math.min(before.length + after.length, maxEdits);
  const furthest = new Int32Array(2 * reach + 3);
  const trace: Int32Array[] = [];
  const at = (k: number): number => furthest[k + reach + 1] ?? 0;
  for (let edits = 0; edits <= reach; edits += 1) {
    trace.push(furthest.slice());
    for (let k = -edits; k <= edits; k += 2) {
      let x = k === -edits || (k !== edits && at(k - 1) < at(k + 1)) ? at(k + 1) : at(k - 1) + 1;
      while (x < before.length && x - k < after.length && before[x] === after[x - k]) x += 1;
      furthest[k + reach + 1] = x;
      if (x >= before.length && x - k >= after.length) return walkBack(before, after, trace, reach);
    }
  }
  return replaced();
}

function walkBack(
  before: readonly string[],
  after: readonly string[],
  trace: readonly Int32Array[],
  reach: number,
): Step[] {
  const steps: Step[] = [];
  let x = before.length;
  let y = after.length;
  for (let edits = trace.length - 1; edits >= 0; edits -= 1) {
    const furthest = trace[edits];
    const at = (k: number): number => furthest?.[k + reach + 1] ?? 0;
    const k = x - y;
    const down = k === -edits || (k !== edits && at(k - 1) < at(k + 1));
    const fromX = at(down ? k + 1 : k - 1);
    const fromY = fromX - (down ? k + 1 : k - 1);
    while (x > Math.max(fromX, 0) && y > Math.max(fromY, 0) && (edits === 0 || x > fromX + (down ? 0 : 1))) {
      x -= 1;
      y -= 1;
      steps.push([" ", before[x] ?? ""]);
    }
    if (edits === 0) break;
    if (down) steps.push(["+", after[fromY] ?? ""]);
    else steps.push(["-", before[fromX] ?? ""]);
    x = fromX;
    y = fromY;
  }
  return steps.reverse();
}

function hunksOf(steps: readonly Step[]): string[] {
  const hunks: string[] = [];
  const changed = steps.flatMap(([kind], index) => (kind === " " ? [] : [index]));
  for (let first = 0; first < changed.length; ) {
    let last = first;
    while (
      last + 1 < changed.length &&
      (changed[last + 1] ?? 0) - (changed[last] ?? 0) <= 2 * contextLines + 1
    )
      last += 1;
    const from = Math.max(0, (changed[first] ?? 0) - contextLines);
    const to = Math.min(steps.length, (changed[last] ?? 0) + contextLines + 1);
    hunks.push(hunk(steps, from, to));
    first = last + 1;
  }
  return hunks;
}

function hunk(steps: readonly Step[], from: number, to: number): string {
  const count = (part: readonly Step[], without: "-" | "+"): number =>
    part.filter(([kind]) => kind !== without).length;
  const before = steps.slice(0, from);
  const part = steps.slice(from, to);
  const range = (without: "-" | "+"): string => {
    const lines = count(part, without);
    return `${count(before, without) + (lines === 0 ? 0 : 1)},${lines}`;
  };
  const body = part.map(([kind, line]) => `${kind}${line}\n`).join("");
  return `@@ -${range("+")} +${range("-")} @@\n${body}`;
}
