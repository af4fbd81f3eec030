import { type AnsiStyle, plainStyle, styleAfter } from "./sgr.ts";

export interface AnsiSpan {
  readonly text: string;
  readonly style: AnsiStyle;
}
export interface AnsiLine {
  /** Grows by one for each line of the output, also for those that were dropped: a stable key. */
  readonly number: number;
  readonly spans: readonly AnsiSpan[];
}

export interface AnsiScreenOptions {
  /** The oldest lines beyond are dropped. Default 5,000. */
  readonly maxLines?: number;
  /** A longer line goes on in a new one. Default 4,096 characters. */
  readonly maxLineChars?: number;
}

/** Terminal output as lines of styled text, fed in pieces that may be cut anywhere. */
export interface AnsiScreen {
  write(text: string): void;
  /** Lines that did not change since an earlier call are the same objects. */
  readonly lines: readonly AnsiLine[];
  /** How many lines were dropped at the beginning. */
  readonly dropped: number;
}

/** Styles that change more often within a line are no longer told apart: time stays linear. */
const maxSpans = 256;
/** A sequence that does not end within this many characters was none. */
const maxSequenceChars = 4_096;
const tabWidth = 8;

/**
 * Reads ECMA-48 as far as a log needs it: SGR colours, carriage return (what follows overwrites, as progress bars do),
 * backspace, tab, erase in line. All other control characters and sequences (titles, links, cursor movement) are dropped.
 * Never throws; time is linear in the input.
 */
export function createAnsiScreen(options: AnsiScreenOptions = {}): AnsiScreen {
  const { maxLines = 5_000, maxLineChars = 4_096 } = options;
  const lines: AnsiLine[] = [];
  let dropped = 0;
  let spans: AnsiSpan[] = [];
  let chars = 0;
  let column = 0;
  let style = plainStyle;
  /** A sequence whose end has not come yet. */
  let pending = "";
  let view: AnsiLine[] | null = null;

  function endLine(): void {
    lines.push({ number: dropped + lines.length, spans });
    spans = [];
    chars = 0;
    column = 0;
    if (lines.length > maxLines * 1.25) {
      const extra = lines.length - maxLines;
      lines.splice(0, extra);
      dropped += extra;
    }
  }

  function put(text: string): void {
    let rest = text;
    while (rest !== "") {
      if (column >= maxLineChars) endLine();
      const piece = takeChars(rest, maxLineChars - column);
      rest = rest.slice(piece.length);
      const last = spans.at(-1);
      if (column < chars) spans = overwrite(spans, column, piece, style);
      else if (last !== undefined && (last.style === style || spans.length >= maxSpans))
        spans[spans.length - 1] = { text: last.text + piece, style: last.style };
      else spans.push({ text: piece, style });
      column += piece.length;
      chars = Math.max(chars, column);
    }
  }

  function control(character: string): void {
    if (character === "\n") endLine();
    else if (character === "\r") column = 0;
    else if (character === "\b") column = Math.max(0, column - 1);
    else if (character === "\t") put(" ".repeat(tabWidth - (column % tabWidth)));
  }

  function sequence(text: string): void {
    if (!text.startsWith("\u001b[")) return;
    const parameters = text.slice(2, -1);
    if (text.endsWith("m") && /^[0-9;:]*$/.test(parameters)) style = styleAfter(style, parameters);
    else if (text.endsWith("K")) erase(parameters);
  }

  function erase(parameters: string): void {
    if (parameters === "2" || (parameters === "" && column === 0) || (parameters === "0" && column === 0)) {
      spans = [];
      chars = 0;
      if (column > 0) put(" ".repeat(column));
    } else if (parameters === "" || parameters === "0") {
      spans = sliceSpans(spans, 0, column);
      chars = Math.min(chars, column);
    } else if (parameters === "1") {
      const here = column;
      column = 0;
      put(" ".repeat(Math.min(here + 1, maxLineChars)));
      column = here;
    }
  }

  function write(text: string): void {
    view = null;
    const input = pending + text;
    pending = "";
    let at = 0;
    while (at < input.length) {
      const next = nextControl(input, at);
      if (next > at) put(input.slice(at, next));
      if (next >= input.length) return;
      if (!startsSequence(input.charCodeAt(next))) {
        control(input.charAt(next));
        at = next + 1;
        continue;
      }
      const end = endOfSequence(input, next);
      if (end === null) {
        pending = input.slice(next);
        return;
      }
      sequence(normalised(input.slice(next, end)));
      at = end;
    }
  }

  return {
    write,
    get lines() {
      view ??= [
        ...lines.slice(-maxLines),
        ...(spans.length > 0 ? [{ number: dropped + lines.length, spans: [...spans] }] : []),
      ];
      return view;
    },
    get dropped() {
      return dropped + Math.max(0, lines.length - maxLines);
    },
  };
}

/** The lines of a text that is there as a whole. */
export function ansiLines(text: string, options?: AnsiScreenOptions): readonly AnsiLine[] {
  const screen = createAnsiScreen(options);
  screen.write(text);
  return screen.lines;
}

/** The text of a line without its styles. */
export function lineText(line: AnsiLine): string {
  return line.spans.map(({ text }) => text).join("");
}

/** C0 and C1 controls, bidi and other format characters that could make a line read as another one. */
const controlPattern =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;

function nextControl(text: string, from: number): number {
  controlPattern.lastIndex = from;
  return controlPattern.exec(text)?.index ?? text.length;
}

function startsSequence(code: number): boolean {
  return code === 0x1b || code === 0x9b || code === 0x9d || code === 0x90 || code === 0x9e || code === 0x9f;
}

/** The one-character forms of C1 are written as the two-character ones. */
function normalised(text: string): string {
  const code = text.charCodeAt(0);
  return code === 0x1b ? text : `\u001b${String.fromCharCode(code - 0x40)}${text.slice(1)}`;
}

/** Index behind the sequence that begins at `start`; null when its end has not come yet. */
function endOfSequence(text: string, start: number): number | null {
  const isShort = text.charCodeAt(start) !== 0x1b;
  const kind = isShort ? String.fromCharCode(text.charCodeAt(start) - 0x40) : text.charAt(start + 1);
  if (kind === "") return null;
  const body = start + (isShort ? 1 : 2);
  if (kind === "[") return endOfCsi(text, start, body);
  if ("]P^_X".includes(kind)) return endOfString(text, start, body);
  if (/[ -/]/.test(kind)) return text.length > start + 2 ? start + 3 : null;
  return /[0-~]/.test(kind) ? start + 2 : start + 1;
}

function endOfCsi(text: string, start: number, body: number): number | null {
  for (let at = body; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code >= 0x40 && code <= 0x7e) return at + 1;
    // What cannot stand in a sequence ends it; it is looked at again as what it is.
    if (code < 0x20 || code > 0x3f || at - start > maxSequenceChars) return at;
  }
  return null;
}

/** OSC, DCS, APC and PM end with ST or BEL; a line feed inside says that they never will. */
function endOfString(text: string, start: number, body: number): number | null {
  for (let at = body; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 0x07 || code === 0x9c) return at + 1;
    if (code === 0x1b) return text.length === at + 1 ? null : text.charAt(at + 1) === "\\" ? at + 2 : at;
    if (code === 0x0a || at - start > maxSequenceChars) return at;
  }
  return null;
}

/** At most `count` characters, never half of a surrogate pair. */
function takeChars(text: string, count: number): string {
  if (text.length <= count) return text;
  const code = text.charCodeAt(count - 1);
  const isHalf = code >= 0xd800 && code <= 0xdbff;
  return text.slice(0, isHalf ? count + 1 : count);
}

function overwrite(spans: readonly AnsiSpan[], column: number, text: string, style: AnsiStyle): AnsiSpan[] {
  const before = sliceSpans(spans, 0, column);
  const after = sliceSpans(spans, column + text.length, Number.POSITIVE_INFINITY);
  const looks = before.length + after.length < maxSpans ? style : (before.at(-1)?.style ?? style);
  const last = before.at(-1);
  if (last?.style !== looks) return [...before, { text, style: looks }, ...after];
  return [...before.slice(0, -1), { text: last.text + text, style: looks }, ...after];
}

function sliceSpans(spans: readonly AnsiSpan[], from: number, to: number): AnsiSpan[] {
  const kept: AnsiSpan[] = [];
  let start = 0;
  for (const { text, style } of spans) {
    const piece = text.slice(Math.max(0, from - start), Math.max(0, to - start));
    if (piece !== "") kept.push({ text: piece, style });
    start += text.length;
  }
  return kept;
}
