import { SallyportError } from "../../errors.ts";
import { limits } from "../../protocol/limits.ts";
import { cleanLabel } from "../visible-text.ts";
import type { Attached } from "./prompt-part.ts";
import { sniffImage } from "./sniff-image.ts";

/**
 * Decodes a pasted image. What it is, is read from its bytes.
 *
 * @param raw as the client sent it
 * @param index its place in `images`, for the field of a refusal
 * @throws SallyportError invalid_field (not base64, RFC 4648 section 4, or no image), too_large
 */
export function decodeImage(raw: { readonly name: string; readonly data: string }, index: number): Attached {
  const field = `images.${index}.data`;
  const bytes = decodeBase64(raw.data);
  if (bytes === null) throw new SallyportError("invalid_field", `\`${field}\` is not base64.`, { field });
  if (bytes.byteLength > limits.imageBytes)
    throw new SallyportError("too_large", `An image may have at most ${limits.imageBytes} bytes.`, { field });
  const mime = sniffImage(bytes);
  if (mime === null)
    throw new SallyportError("invalid_field", `\`${field}\` is no PNG, JPEG, GIF or WebP image.`, { field });
  const name = cleanLabel(raw.name, limits.labelChars) || "image";
  return { label: { name, kind: "image" }, part: { type: "image", name, mime, bytes } };
}

/** Strict: Node's own decoder skips whatever it does not know. Padding may be left out. */
function decodeBase64(text: string): Buffer | null {
  const body = text.endsWith("==") ? text.slice(0, -2) : text.endsWith("=") ? text.slice(0, -1) : text;
  const padding = text.length - body.length;
  if (body.length === 0 || body.length % 4 === 1 || /[^A-Za-z0-9+/]/.test(body)) return null;
  if (padding > 0 && text.length % 4 !== 0) return null;
  return Buffer.from(body, "base64");
}
