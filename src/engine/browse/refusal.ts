import { dirname, join } from "node:path";
import { SallyportError } from "../../errors.ts";
import { type FolderLimits, resolveFolder } from "../files/resolve-folder.ts";

const maxSteps = 64;

/**
 * The refusal that a device sees for a folder that cannot be listed. Outside of what may be browsed it is the same for
 * what exists and what does not, so that nobody finds out about files by asking; inside, what is missing is `not_found`.
 */
export async function asBrowseRefusal(
  error: unknown,
  rawPath: string,
  limits: FolderLimits,
): Promise<unknown> {
  if (!(error instanceof SallyportError)) return error;
  if (error.code === "path_refused") return refused();
  const expanded =
    rawPath === "~" || rawPath.startsWith("~/") ? join(limits.userHome, rawPath.slice(1)) : rawPath;
  const isFileFound = error.message.includes("is not a folder");
  if (!isFileFound && !error.message.includes("does not exist")) return error;
  let path = expanded;
  for (let step = 0; step < maxSteps && path !== dirname(path); step += 1) {
    path = dirname(path);
    const found = await resolveFolder(path, limits, "path").catch((refusal: unknown) => refusal);
    if (typeof found === "string")
      return isFileFound
        ? error
        : new SallyportError("not_found", "There is no such folder.", { field: "path" });
    if (found instanceof SallyportError && found.code !== "invalid_field") return refused();
  }
  return refused();
}

function refused(): SallyportError {
  return new SallyportError(
    "path_refused",
    "This folder cannot be listed: it lies outside the folder that may be browsed, is Sallyport's own, or cannot be read.",
    { field: "path" },
  );
}
