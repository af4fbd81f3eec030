/**
 * Characters that nobody can see or that move others around: controls, format and private characters, unassigned ones,
 * lone surrogates, blanks other than the space, what is ignored by default, and the blank letters of Hangul and Braille.
 * Together with the bracket that `visibleText` writes, so that its output cannot be imitated.
 */
const hiddenCharacter =
  /⟨U\+[0-9A-F]{4,6}⟩|[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u{27e8}\u{2800}\u{3164}\u{ffa0}\u{115f}\u{1160}]|(?! )\p{Zs}/gu;

/**
 * Shows what people approve, whole: every hidden character becomes `⟨U+202E⟩`. Line feeds stay, since a command of several
 * lines is shown in several lines. A literal `⟨` is shown as `⟨U+27E8⟩`, so that nothing is half a mark; whole marks stay
 * as they are, since a text may pass this twice on its way (the daemon has marked what a client shows).
 */
export function visibleText(text: string): string {
  return text.replace(hiddenCharacter, (character) =>
    character === "\n" || character.startsWith("⟨U") ? character : codePointMark(character),
  );
}

function codePointMark(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return `⟨U+${code.toString(16).toUpperCase().padStart(4, "0")}⟩`;
}

export interface PlainTextOptions {
  /** Keep line feeds and tabs (logs, output). Without it they become spaces (names, titles, paths). */
  readonly lines?: boolean;
  /** Let SGR sequences with colours and weights pass: the text goes to a terminal. */
  readonly colours?: boolean;
}

// ECMA-48: CSI sequences; OSC, DCS, SOS, PM and APC strings up to BEL or ST; other escapes of one or more characters. Both
// the two-character and the one-character (C1) spellings. Unfinished ones lose their introducer only.
const escapeSequence =
  /(?:\u001b\[|\u009b)[0-?]{0,64}[ -/]{0,8}[@-~]|(?:\u001b[\]PX^_]|[\u009d\u0090\u0098\u009e\u009f])[^\u0007\u001b\u009c\n]{0,4096}(?:\u0007|\u001b\\|\u009c)|\u001b[ -/]{1,8}[0-~]|\u001b[0-Z\\^-~]/;
const droppedCharacter = /\r\n|[\p{C}\p{Zl}\p{Zp}\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/u;
const scanner = new RegExp(`${escapeSequence.source}|${droppedCharacter.source}`, "gu");

/**
 * Text from elsewhere (names, titles, paths, output) for people: terminal sequences, control, bidi and other format
 * characters are removed, so that it can neither steer a terminal nor reorder what stands beside it.
 */
export function plainText(text: string, options: PlainTextOptions = {}): string {
  return text.replace(scanner, (found) => {
    if (found === "\r\n" || found === "\n" || found === "\t") {
      if (!options.lines) return " ";
      return found === "\t" ? found : "\n";
    }
    return options.colours && isColourSequence(found) ? found : "";
  });
}

/** SGR with colours and weights only: conceal (8), fonts and framing could hide or imitate. */
function isColourSequence(sequence: string): boolean {
  const match = /^\u001b\[([0-9;]*)m$/.exec(sequence);
  if (!match) return false;
  const codes = (match[1] ?? "").split(";").map((code) => (code === "" ? 0 : Number(code)));
  for (let index = 0; index < codes.length; index += 1) {
    const code = codes[index] ?? 0;
    if (code === 38 || code === 48) {
      const length = codes[index + 1] === 5 ? 2 : codes[index + 1] === 2 ? 4 : 0;
      if (length === 0 || index + length >= codes.length) return false;
      index += length;
    } else if (!plainSgrCode(code)) return false;
  }
  return true;
}

function plainSgrCode(code: number): boolean {
  return (
    code <= 4 ||
    code === 7 ||
    code === 9 ||
    (code >= 22 && code <= 24) ||
    code === 27 ||
    code === 29 ||
    (code >= 30 && code <= 49) ||
    (code >= 90 && code <= 107)
  );
}

const unfinished =
  /(?:\u001b|\u009b)(?:\[?[0-?]{0,64}[ -/]{0,8}|[\]PX^_][^\u0007\u001b\u009c\n]{0,4096}\u001b?)$/u;

/**
 * The same for output that comes in pieces: an escape sequence cut by the end of a piece waits for the next one. At most
 * 4 KiB wait. Call with `end` true for the last piece.
 */
export function plainTextStream(options: PlainTextOptions): (chunk: string, end?: boolean) => string {
  let waiting = "";
  return (chunk, end = false) => {
    const text = waiting + chunk;
    const cut = end ? text.length : text.search(unfinished);
    const carriage = !end && cut < 0 && text.endsWith("\r") ? text.length - 1 : cut;
    const split = carriage < 0 ? text.length : carriage;
    waiting = text.slice(split);
    return plainText(text.slice(0, split), options);
  };
}
