/** How a piece of terminal output looks. Colours are the 16 of a terminal: 0 to 7, and 8 to 15 for the bright ones. */
export interface AnsiStyle {
  readonly fg: number | null;
  readonly bg: number | null;
  readonly bold: boolean;
  readonly dim: boolean;
  readonly italic: boolean;
  readonly underline: boolean;
  readonly strike: boolean;
  readonly inverse: boolean;
}

export const plainStyle: AnsiStyle = {
  fg: null,
  bg: null,
  bold: false,
  dim: false,
  italic: false,
  underline: false,
  strike: false,
  inverse: false,
};

/**
 * The style after an SGR sequence (ECMA-48 8.3.117) with these parameters (`1;31`, `38;5;208`, `38:2::255:0:0`). What is
 * not known changes nothing. "Concealed" is not obeyed: nothing that a program prints may be hidden from its reader.
 */
export function styleAfter(style: AnsiStyle, parameters: string): AnsiStyle {
  const fields = parameters.split(";").slice(0, 64);
  let next = style;
  for (let i = 0; i < fields.length; i += 1) {
    const [first = "", ...sub] = (fields[i] ?? "").split(":");
    const code = first === "" ? 0 : Number(first);
    if (code !== 38 && code !== 48) {
      next = afterCode(next, code, sub[0]);
      continue;
    }
    const numbers = sub.length > 0 ? sub.map(Number) : fields.slice(i + 1, i + 5).map(Number);
    const color = extendedColor(numbers, sub.length > 0);
    if (sub.length === 0) i += numbers[0] === 2 ? 4 : 2;
    if (color !== null) next = code === 38 ? { ...next, fg: color } : { ...next, bg: color };
  }
  return next;
}

/** The classes of a style; empty for plain text. The style sheet gives each colour enough contrast in light and dark. */
export function ansiClasses(style: AnsiStyle): string {
  const fg = style.inverse ? style.bg : style.fg;
  const bg = style.inverse ? style.fg : style.bg;
  const names = [
    style.bold && "ansi-bold",
    style.dim && "ansi-dim",
    style.italic && "ansi-italic",
    style.underline && "ansi-underline",
    style.strike && "ansi-strike",
    style.inverse && fg === null && bg === null && "ansi-inverse",
    fg !== null && `ansi-fg-${fg}`,
    bg !== null && `ansi-bg-${bg}`,
  ];
  return names.filter((name) => name !== false).join(" ");
}

function afterCode(style: AnsiStyle, code: number, sub: string | undefined): AnsiStyle {
  if (code >= 30 && code <= 37) return { ...style, fg: code - 30 };
  if (code >= 40 && code <= 47) return { ...style, bg: code - 40 };
  if (code >= 90 && code <= 97) return { ...style, fg: code - 82 };
  if (code >= 100 && code <= 107) return { ...style, bg: code - 92 };
  switch (code) {
    case 0:
      return plainStyle;
    case 1:
      return { ...style, bold: true };
    case 2:
      return { ...style, dim: true };
    case 3:
      return { ...style, italic: true };
    case 4:
      return { ...style, underline: sub !== "0" };
    case 7:
      return { ...style, inverse: true };
    case 9:
      return { ...style, strike: true };
    case 21:
    case 22:
      return { ...style, bold: false, dim: false };
    case 23:
      return { ...style, italic: false };
    case 24:
      return { ...style, underline: false };
    case 27:
      return { ...style, inverse: false };
    case 29:
      return { ...style, strike: false };
    case 39:
      return { ...style, fg: null };
    case 49:
      return { ...style, bg: null };
    default:
      return style;
  }
}

/** `5;n` or `2;r;g;b`; with colons a colour space may stand before the red. Shown as the nearest of the 16. */
function extendedColor(numbers: readonly number[], colons: boolean): number | null {
  const [kind, ...rest] = numbers;
  if (kind === 5) return fromPalette(rest[0]);
  if (kind !== 2) return null;
  const [r, g, b] = colons && rest.length > 3 ? rest.slice(1) : rest;
  return [r, g, b].every(isByte) ? nearest(r ?? 0, g ?? 0, b ?? 0) : null;
}

function fromPalette(index: number | undefined): number | null {
  if (!isByte(index)) return null;
  if (index < 16) return index;
  if (index >= 232) {
    const grey = 8 + (index - 232) * 10;
    return nearest(grey, grey, grey);
  }
  const level = (step: number): number => (step === 0 ? 0 : 55 + step * 40);
  const cube = index - 16;
  return nearest(level(Math.floor(cube / 36)), level(Math.floor(cube / 6) % 6), level(cube % 6));
}

function isByte(value: number | undefined): value is number {
  return value !== undefined && Number.isInteger(value) && value >= 0 && value <= 255;
}

/** By hue, because the theme sets how light each colour is: a far-away nearest neighbour would turn orange into grey. */
function nearest(r: number, g: number, b: number): number {
  const max = Math.max(r, g, b);
  const min = Math.min(r, g, b);
  if (max - min < 40) return max < 64 ? 0 : max < 150 ? 8 : max < 220 ? 7 : 15;
  const middle = min + (max - min) * 0.5;
  const hue = (r > middle ? 1 : 0) + (g > middle ? 2 : 0) + (b > middle ? 4 : 0);
  return max >= 200 ? hue + 8 : hue;
}
