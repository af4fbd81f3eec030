import { isAbsolute } from "node:path";
import { SallyportError } from "../../errors.ts";
import { limits } from "../../protocol/limits.ts";

/** Refuses what is no absolute path: empty, relative, with NUL, over-long, or with a half of a surrogate pair (no bytes). */
export function checkPathText(rawPath: string, field: string): void {
  const problem =
    rawPath === ""
      ? "is empty"
      : rawPath.includes("\0")
        ? "holds a NUL character"
        : /\p{Cs}/u.test(rawPath)
          ? "is not valid Unicode"
          : Buffer.byteLength(rawPath) > limits.pathBytes
            ? `is longer than ${limits.pathBytes} bytes`
            : isAbsolute(rawPath)
              ? null
              : "must be absolute";
  if (problem !== null) throw new SallyportError("invalid_field", `\`${field}\` ${problem}.`, { field });
}
