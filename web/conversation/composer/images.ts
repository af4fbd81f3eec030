/** A picture that goes along with a prompt, as it will be sent. */
export interface PastedImage {
  readonly name: string;
  readonly mime: string;
  /** Base64. */
  readonly data: string;
  readonly bytes: number;
  /** For its small picture on the page; revoke it when it is gone. */
  readonly url: string;
}

/** What the daemon takes at most of one prompt is 16 of 10 MiB; a frame has 16 MiB for all of them as base64. */
export const maxImages = 8;
export const maxTotalBytes = 9 * 1024 * 1024;
/** A picture beyond is made smaller; models see no more of it. */
const maxBytes = 1_500 * 1024;
const maxEdgePx = 2_048;
const taken: ReadonlySet<string> = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

/** How large a picture of these sizes is drawn: within the bound, never larger than it is. */
export function fitted(
  width: number,
  height: number,
  edge = maxEdgePx,
): { readonly width: number; readonly height: number } {
  const scale = Math.min(1, edge / Math.max(1, width, height));
  return { width: Math.max(1, Math.round(width * scale)), height: Math.max(1, Math.round(height * scale)) };
}

/**
 * Reads a picture that was chosen, pasted, dropped or photographed. One that is large, or of a kind that the daemon does
 * not take (HEIC, BMP), is drawn anew as JPEG, which also leaves its place and camera behind. Throws `Error` with words
 * for a person.
 */
export async function readImage(file: File): Promise<PastedImage> {
  const isKept = taken.has(file.type) && file.size <= maxBytes && file.type !== "image/jpeg";
  const blob = isKept ? file : await redrawn(file);
  const data = await base64Of(blob);
  return {
    name: file.name.slice(0, 120) || "picture",
    mime: blob.type,
    data,
    bytes: blob.size,
    url: URL.createObjectURL(blob),
  };
}

async function redrawn(file: File): Promise<Blob> {
  let bitmap: ImageBitmap;
  try {
    bitmap = await createImageBitmap(file, { imageOrientation: "from-image" });
  } catch {
    throw new Error(`${file.name || "This file"} is no picture that this browser can read.`);
  }
  try {
    for (const [edge, quality] of [
      [maxEdgePx, 0.85],
      [1_536, 0.75],
      [1_024, 0.6],
    ] as const) {
      const blob = await drawn(bitmap, edge, quality, file.type);
      if (blob.size <= maxBytes) return blob;
    }
  } finally {
    bitmap.close();
  }
  throw new Error(`${file.name || "This picture"} is too large, even when it is made smaller.`);
}

async function drawn(bitmap: ImageBitmap, edge: number, quality: number, type: string): Promise<Blob> {
  const { width, height } = fitted(bitmap.width, bitmap.height, edge);
  const canvas = document.createElement("canvas");
  canvas.width = width;
  canvas.height = height;
  const context = canvas.getContext("2d");
  if (context === null) throw new Error("This browser cannot make the picture smaller.");
  // JPEG has no transparency: what is clear would become black.
  context.fillStyle = "#ffffff";
  if (type !== "image/jpeg") context.fillRect(0, 0, width, height);
  context.drawImage(bitmap, 0, 0, width, height);
  const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, "image/jpeg", quality));
  if (blob === null) throw new Error("This browser cannot make the picture smaller.");
  return blob;
}

async function base64Of(blob: Blob): Promise<string> {
  const bytes = new Uint8Array(await blob.arrayBuffer());
  let binary = "";
  const step = 0x8000;
  for (let at = 0; at < bytes.length; at += step)
    binary += String.fromCharCode(...bytes.subarray(at, at + step));
  return btoa(binary);
}
