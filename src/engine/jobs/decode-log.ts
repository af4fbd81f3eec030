import { isUtf8 } from "node:buffer";

/** U+FFFD in UTF-8. */
const replacementBytes = 3;
const replacement = "\uFFFD";

/** Kinds of unit that a decoder takes at once (WHATWG Encoding, "UTF-8 decoder"): a character or a maximal invalid part. */
const wellFormed = 0;
const invalid = 1;
/** The bytes end within what may become a character. */
const cut = 2;

/** The unit at `at`: its length in bytes and its kind, packed as `length * 4 + kind` (a pair would be allocated per byte). */
function unitAt(bytes: Uint8Array, at: number): number {
  const lead = bytes[at] ?? 0;
  if (lead < 0x80) return 1 * 4 + wellFormed;
  if (lead < 0xc2 || lead > 0xf4) return 1 * 4 + invalid;
  const length = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  // Overlong forms, surrogates and what lies above U+10FFFF are told by the second byte.
  let lowest = lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80;
  let highest = lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf;
  for (let taken = 1; taken < length; taken += 1) {
    const next = bytes[at + taken];
    if (next === undefined) return taken * 4 + cut;
    if (next < lowest || next > highest) return taken * 4 + invalid;
    lowest = 0x80;
    highest = 0xbf;
  }
  return length * 4 + wellFormed;
}

export interface DecodedLog {
  readonly text: string;
  /** Bytes of the file that `text` stands for. */
  readonly taken: number;
}

/**
 * Decodes from the first byte, which begins a unit, as long as the text stays within `maxBytes` of UTF-8. A character cut
 * by the end is left for later, or replaced when `final` says that nothing follows. Chunks joined give what a UTF-8
 * decoder makes of the whole.
 */
export function decodeChunk(bytes: Uint8Array, maxBytes: number, final: boolean): DecodedLog {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const whole = decodeValid(buffer, maxBytes, final);
  if (whole !== null) return whole;
  let text = "";
  let runStart = 0;
  let at = 0;
  let size = 0;
  while (at < bytes.length) {
    const unit = unitAt(bytes, at);
    const length = unit >> 2;
    const kind = unit & 3;
    if (kind === cut && !final) break;
    const width = kind === wellFormed ? length : replacementBytes;
    if (size + width > maxBytes) break;
    size += width;
    if (kind !== wellFormed) {
      text += buffer.toString("utf8", runStart, at) + replacement;
      runStart = at + length;
    }
    at += length;
  }
  return { text: text + buffer.toString("utf8", runStart, at), taken: at };
}

/** The usual case, ten times as fast: everything that fits is well-formed. Null where a byte must be looked at. */
function decodeValid(buffer: Buffer, maxBytes: number, final: boolean): DecodedLog | null {
  let end = Math.min(buffer.length, maxBytes);
  for (let back = 1; back <= Math.min(3, end); back += 1) {
    if (isContinuation(buffer[end - back])) continue;
    const unit = unitAt(buffer, end - back);
    if ((unit & 3) === invalid || ((unit & 3) === cut && final)) return null;
    if (unit >> 2 > back || (unit & 3) === cut) end -= back;
    break;
  }
  const valid = buffer.subarray(0, end);
  return isUtf8(valid) ? { text: valid.toString("utf8"), taken: end } : null;
}

/** Where the last part of `bytes` begins whose text fits into `maxBytes`. The first byte begins a unit. */
export function startOfLast(bytes: Uint8Array, maxBytes: number, final: boolean): number {
  let size = 0;
  walk(bytes, final, (_length, width) => {
    size += width;
    return true;
  });
  let start = 0;
  walk(bytes, final, (length, width) => {
    if (size <= maxBytes) return false;
    size -= width;
    start += length;
    return true;
  });
  return start;
}

function walk(bytes: Uint8Array, final: boolean, visit: (length: number, width: number) => boolean): void {
  for (let at = 0; at < bytes.length; ) {
    const unit = unitAt(bytes, at);
    if ((unit & 3) === cut && !final) return;
    if (!visit(unit >> 2, (unit & 3) === wellFormed ? unit >> 2 : replacementBytes)) return;
    at += unit >> 2;
  }
}

/** How many bytes before a position must be known to tell where a unit begins. */
export const contextBytes = 3;

/** The first position at or after `from` where a unit begins; `bytes` holds what lies up to 3 bytes before it. */
export function nextUnitStart(bytes: Uint8Array, from: number): number {
  // Only a byte that is no continuation surely begins a unit; no unit has more than 3 continuations.
  let at = Math.max(0, from - contextBytes);
  while (at < from && isContinuation(bytes[at])) at += 1;
  while (at < from) at += unitAt(bytes, at) >> 2;
  return Math.min(at, bytes.length);
}

/** Whether `at` lies inside a character: a whole one (`inside`), or one that the end of `bytes` cuts (`cut`). */
export function placeOf(bytes: Uint8Array, at: number): "start" | "inside" | "cut" {
  for (let back = 1; back <= contextBytes && at - back >= 0; back += 1) {
    if (isContinuation(bytes[at - back])) continue;
    const unit = unitAt(bytes, at - back);
    if (unit >> 2 < back || (unit >> 2 === back && (unit & 3) !== cut)) return "start";
    if ((unit & 3) === wellFormed) return "inside";
    return (unit & 3) === cut ? "cut" : "start";
  }
  return "start";
}

/** Where the last `lines` lines begin; a newline at the very end ends the last line and begins none. */
export function startOfLines(bytes: Uint8Array, lines: number): number {
  let end = bytes.length;
  if (bytes[end - 1] === 0x0a) end -= 1;
  for (let left = lines; left > 0; left -= 1) {
    const newline = end <= 0 ? -1 : bytes.lastIndexOf(0x0a, end - 1);
    if (newline < 0) return 0;
    if (left === 1) return newline + 1;
    end = newline;
  }
  return bytes.length;
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}
