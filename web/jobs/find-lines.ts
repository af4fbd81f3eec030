import { type AnsiLine, lineText } from "../ansi/ansi-screen.ts";

/** Lines never change, and a search looks at all of them with every frame of a flood. */
const searchedTexts = new WeakMap<AnsiLine, string>();

function searchedText(line: AnsiLine): string {
  const known = searchedTexts.get(line);
  if (known !== undefined) return known;
  const text = lineText(line).toLowerCase();
  searchedTexts.set(line, text);
  return text;
}

/** Numbers of the lines that have `search` in them, whatever its case, in their order. Nothing for an empty search. */
export function findLines(lines: readonly AnsiLine[], search: string): readonly number[] {
  const wanted = search.toLowerCase();
  if (wanted === "") return [];
  return lines.filter((line) => searchedText(line).includes(wanted)).map(({ number }) => number);
}

/** The one after `current` of `found`, or before it, round and round; null when there is none. */
export function nextFound(found: readonly number[], current: number | null, step: 1 | -1): number | null {
  if (found.length === 0) return null;
  const at = current === null ? -1 : found.indexOf(current);
  if (at === -1) return (step === 1 ? found[0] : found.at(-1)) ?? null;
  return found[(at + step + found.length) % found.length] ?? null;
}

export interface LineBlock {
  readonly key: number;
  readonly lines: readonly AnsiLine[];
}

/** Lines in blocks that keep their place while lines are added at the end and dropped at the beginning. */
export function blocksOf(lines: readonly AnsiLine[], size: number): readonly LineBlock[] {
  const blocks: { readonly key: number; readonly lines: AnsiLine[] }[] = [];
  for (const line of lines) {
    const key = Math.floor(line.number / size);
    const last = blocks.at(-1);
    if (last?.key === key) last.lines.push(line);
    else blocks.push({ key, lines: [line] });
  }
  return blocks;
}

/** True when both hold the very same lines. */
export function isSameBlock(before: LineBlock, after: LineBlock): boolean {
  return (
    before.key === after.key &&
    before.lines.length === after.lines.length &&
    before.lines.every((line, index) => line === after.lines[index])
  );
}
