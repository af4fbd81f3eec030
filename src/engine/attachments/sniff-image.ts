import type { ImageMime } from "./prompt-part.ts";

/** Bytes of a file's beginning that are enough to tell. */
export const sniffBytes = 16;

/** What kind of image this is, by its first bytes; null for anything that models do not take. Names and types lie. */
export function sniffImage(start: Uint8Array): ImageMime | null {
  const at = (offset: number, bytes: readonly number[]): boolean =>
    bytes.every((byte, index) => start[offset + index] === byte);
  if (at(0, [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])) return "image/png";
  if (at(0, [0xff, 0xd8, 0xff])) return "image/jpeg";
  if (at(0, ascii("GIF87a")) || at(0, ascii("GIF89a"))) return "image/gif";
  if (at(0, ascii("RIFF")) && at(8, ascii("WEBP"))) return "image/webp";
  return null;
}

function ascii(text: string): number[] {
  return [...Buffer.from(text, "latin1")];
}
