import { plainText } from "../lib/visible-text.ts";

/** A name, title or path on one line, without control and bidi characters. */
export function inline(raw: string): string {
  return plainText(raw);
}

/** `2026-10-25T18:33:10.271Z` as `2026-10-25 18:33`; a dash for null. */
export function shortTime(time: string | null): string {
  return time === null ? "-" : inline(time).replace("T", " ").slice(0, 16);
}

/** Bytes with a unit: `18.2 KB`. */
export function byteSize(bytes: number): string {
  const units = ["B", "KB", "MB", "GB", "TB"];
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${units[unit]}`;
}
