import { link, rename, stat, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { createFileExclusive, syncFolder } from "./atomic-file.ts";
import { randomSecret } from "./ids.ts";

/**
 * Creates a secret file (0600) in one step: it appears whole or not at all, and never replaces one that is there. A crash
 * in between leaves a temporary file beside it, never a half-written secret that the next start would have to refuse.
 *
 * @throws the system's error, EEXIST when the file is there already
 */
export async function createSecretFile(path: string, text: string): Promise<void> {
  const temporary = join(dirname(path), `.${basename(path)}.${randomSecret(6)}.tmp`);
  try {
    await createFileExclusive(temporary, text);
    await linkOrRename(temporary, path);
  } catch (error) {
    // Best effort: the error that matters is the first one.
    await unlink(temporary).catch(() => undefined);
    throw error;
  }
  await syncFolder(dirname(path));
}

const withoutHardLinks = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"]);

async function linkOrRename(temporary: string, path: string): Promise<void> {
  try {
    await link(temporary, path);
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    if (!withoutHardLinks.has(code)) throw error;
    // A file system without hard links (exFAT, some network ones): only one daemon holds the home's lock, so that
    // looking first and renaming then is as good.
    const taken = await stat(path).then(
      () => true,
      () => false,
    );
    if (taken) throw Object.assign(new Error(`${path} exists already`), { code: "EEXIST" });
    await rename(temporary, path);
    return;
  }
  await unlink(temporary);
}
