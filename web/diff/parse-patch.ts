import { collectDiff, type Diff, type DiffRow, maxDiffRows } from "./diff-row.ts";

const hunkPattern = /^@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@(.*)$/;

/**
 * Rows of a patch in unified form, with or without file headers. Never throws: a line that fits nowhere is shown as a
 * note, so that nothing of a patch is kept from its reader.
 */
export function parsePatch(patch: string, maxRows = maxDiffRows): Diff {
  return collectDiff(rowsOf(patch), maxRows);
}

function* rowsOf(patch: string): Generator<DiffRow> {
  let oldLine = 0;
  let newLine = 0;
  // Lines that the hunk still has; a header promises how many.
  let oldLeft = 0;
  let newLeft = 0;
  for (const line of linesOf(patch)) {
    const hunk = oldLeft <= 0 && newLeft <= 0 ? hunkPattern.exec(line) : null;
    if (hunk !== null) {
      oldLine = Number(hunk[1]);
      oldLeft = Number(hunk[2] ?? 1);
      newLine = Number(hunk[3]);
      newLeft = Number(hunk[4] ?? 1);
      yield { kind: "gap", old: null, new: null, text: (hunk[5] ?? "").trim() };
      continue;
    }
    const isInHunk = oldLeft > 0 || newLeft > 0;
    const mark = line.charAt(0);
    if (isInHunk && mark === "+" && newLeft > 0) {
      yield { kind: "added", old: null, new: newLine, text: line.slice(1) };
      newLine += 1;
      newLeft -= 1;
    } else if (isInHunk && mark === "-" && oldLeft > 0) {
      yield { kind: "removed", old: oldLine, new: null, text: line.slice(1) };
      oldLine += 1;
      oldLeft -= 1;
    } else if (isInHunk && (mark === " " || mark === "")) {
      yield { kind: "same", old: oldLine, new: newLine, text: line.slice(1) };
      oldLine += 1;
      newLine += 1;
      oldLeft -= 1;
      newLeft -= 1;
    } else if (!isFileHeader(line)) yield { kind: "note", old: null, new: null, text: line };
  }
}

/** The path is shown above the change already. */
function isFileHeader(line: string): boolean {
  return /^(?:--- |\+\+\+ |diff --git |index [0-9a-f]|=+$)/.test(line);
}

/** Lines without their ends; a last line feed makes no line of its own. */
export function* linesOf(text: string): Generator<string> {
  let from = 0;
  while (from < text.length) {
    const end = text.indexOf("\n", from);
    const line = end === -1 ? text.slice(from) : text.slice(from, end);
    yield line.endsWith("\r") ? line.slice(0, -1) : line;
    if (end === -1) return;
    from = end + 1;
  }
}
