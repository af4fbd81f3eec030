import { isUtf8 } from "node:buffer";
import type { FileHandle } from "node:fs/promises";
import { basename } from "node:path";
import { limits } from "../../protocol/limits.ts";
import { engineLimits } from "../engine-limits.ts";
import { type FileLimits, openForAgent } from "../files/open-for-agent.ts";
import { cleanLabel, makeVisible } from "../visible-text.ts";
import { fenced } from "./fence.ts";
import type { Attached } from "./prompt-part.ts";
import { sniffBytes, sniffImage } from "./sniff-image.ts";

/**
 * Attaches a file: text as a fenced block, an image as an image, anything else as a note. Throws as `openForAgent` does.
 *
 * @param path absolute
 * @param shownPath as the client wrote it
 */
export async function attachFile(path: string, shownPath: string, bounds: FileLimits): Promise<Attached> {
  const { handle, stat, realPath } = await openForAgent(path, bounds);
  try {
    const name = cleanLabel(basename(shownPath), limits.labelChars) || "file";
    const shown = makeVisible(shownPath, { keepLayout: false });
    const start = await readStart(handle, Math.min(stat.size, sniffBytes));
    const mime = sniffImage(start);
    if (mime !== null && stat.size <= limits.imageBytes) {
      const bytes = await readStart(handle, stat.size);
      return { label: { name, kind: "image" }, part: { type: "image", name, mime, bytes } };
    }
    if (mime !== null)
      return note(
        name,
        `${shown} is an image of ${stat.size} bytes, too large to be sent (${limits.imageBytes}).`,
        realPath,
      );
    const text = asText(await readStart(handle, engineLimits.attachedTextBytes + 1), stat.size);
    if (text === null)
      return note(name, `${shown} is a file of ${stat.size} bytes that is not text.`, realPath);
    return {
      label: { name, kind: "text" },
      part: {
        type: "text",
        text: fenced(titleOf(shown, text), text.text),
        ...(text.cutFrom === null ? { file: { path: realPath, name, text: text.text } } : {}),
      },
    };
  } finally {
    await handle.close();
  }
}

interface AttachedText {
  readonly text: string;
  /** Bytes of the file, where only its beginning is in `text`. */
  readonly cutFrom: number | null;
}

function titleOf(shown: string, { text, cutFrom }: AttachedText): string {
  return cutFrom === null
    ? `${shown}:`
    : `${shown} (cut: the first ${Buffer.byteLength(text)} of ${cutFrom} bytes):`;
}

/** The text of a file, cut between two characters; null for what is not UTF-8 text. */
function asText(bytes: Buffer, fileBytes: number): AttachedText | null {
  const isCut = bytes.byteLength > engineLimits.attachedTextBytes;
  let end = isCut ? engineLimits.attachedTextBytes : bytes.byteLength;
  // A byte 10xxxxxx goes on with a character that began before it.
  if (isCut) for (let step = 0; step < 3 && ((bytes[end] ?? 0) & 0xc0) === 0x80; step += 1) end -= 1;
  const kept = bytes.subarray(0, end);
  if (!isUtf8(kept) || kept.includes(0)) return null;
  return { text: kept.toString("utf8"), cutFrom: isCut ? Math.max(fileBytes, bytes.byteLength) : null };
}

async function readStart(handle: FileHandle, maxBytes: number): Promise<Buffer> {
  const buffer = Buffer.alloc(maxBytes);
  let length = 0;
  while (length < maxBytes) {
    const { bytesRead } = await handle.read(buffer, length, maxBytes - length, length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return buffer.subarray(0, length);
}

function note(name: string, text: string, path: string): Attached {
  return {
    label: { name, kind: "file" },
    part: { type: "text", text: `(${text})`, file: { path, name, text: null } },
  };
}
