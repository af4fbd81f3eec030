import { stat } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import { SallyportError } from "../../errors.ts";
import type { CommandOf } from "../../protocol/commands.ts";
import { engineLimits } from "../engine-limits.ts";
import type { FolderLimits } from "../files/resolve-folder.ts";
import { attachFile } from "./attach-file.ts";
import { attachFolder } from "./attach-folder.ts";
import { decodeImage } from "./decode-image.ts";
import type { Attached } from "./prompt-part.ts";

export interface AttachOptions {
  /** The agent's folder: relative paths begin there. */
  readonly cwd: string;
  /** `browseRoot` is null for who may read everywhere. */
  readonly bounds: FolderLimits;
}

/**
 * Reads what a prompt brings along: pasted images first, then paths in their order. All or nothing.
 *
 * @throws SallyportError invalid_field, not_found, path_refused, too_large, each with the field (`attachments.0.path`)
 */
export async function attach(
  command: Pick<CommandOf<"prompt">, "images" | "attachments">,
  options: AttachOptions,
): Promise<readonly Attached[]> {
  const attached = (command.images ?? []).map(decodeImage);
  checkTotal(attached, "images");
  for (const [index, { path }] of (command.attachments ?? []).entries()) {
    attached.push(await attachPath(path, `attachments.${index}.path`, options));
    checkTotal(attached, "attachments");
  }
  return attached;
}

async function attachPath(rawPath: string, field: string, options: AttachOptions): Promise<Attached> {
  const { bounds } = options;
  const path =
    rawPath === "~" || rawPath.startsWith("~/")
      ? join(bounds.userHome, rawPath.slice(1))
      : isAbsolute(rawPath)
        ? rawPath
        : join(options.cwd, rawPath);
  try {
    // Only says which way to open it: what is opened is checked again, and decides.
    const isFolder = !path.includes("\0") && (await stat(path).catch(() => null))?.isDirectory() === true;
    return isFolder
      ? await attachFolder(path, rawPath, bounds, field)
      : await attachFile(path, rawPath, bounds);
  } catch (error) {
    if (!(error instanceof SallyportError)) throw error;
    throw outOfReach(error, field, bounds.browseRoot);
  }
}

/** Names the field, and gives one text for what lies outside the root, be it a file, a folder or nothing. */
function outOfReach(error: SallyportError, field: string, browseRoot: string | null): SallyportError {
  if (error.code === "path_refused" && browseRoot !== null)
    return new SallyportError(
      "path_refused",
      "This attachment is not read: it lies outside the folder that may be browsed, is Sallyport's own, or is no regular file.",
      { field, cause: error },
    );
  return new SallyportError(error.code, error.message, { field, cause: error });
}

/** The bytes that parts keep in memory. */
export function bytesOf(attached: readonly Attached[]): number {
  return attached.reduce(
    (sum, { part }) => sum + (part.type === "image" ? part.bytes.byteLength : part.text.length),
    0,
  );
}

function checkTotal(attached: readonly Attached[], field: string): void {
  if (bytesOf(attached) > engineLimits.attachedBytes)
    throw new SallyportError(
      "too_large",
      `The attachments of a prompt may have at most ${engineLimits.attachedBytes} bytes together.`,
      { field },
    );
}
