import { posix } from "node:path";

const maxSegments = 256;

/**
 * Splits a path pattern into segments: relative to the tab's folder, or absolute (first segment empty). `*` and `?` stay
 * in a segment, `**` crosses them, a backslash takes the next character literally. Null if it could reach elsewhere
 * (`..`, `.`, `~`, empty segments) or holds controls.
 */
export function parsePathPattern(pattern: string): readonly string[] | null {
  if (/[\p{C}\p{Zl}\p{Zp}]/u.test(pattern) || pattern.startsWith("~")) return null;
  const segments = pattern.split("/");
  if (segments.length > maxSegments) return null;
  const absolute = pattern.startsWith("/");
  const named = absolute ? segments.slice(1) : segments;
  return named.every((segment) => segment !== "" && segment !== "." && segment !== "..") ? segments : null;
}

/** Writes a path so that `parsePathPattern` reads it literally. */
export function escapePathPattern(path: string): string {
  return path.replace(/[\\*?]/g, "\\$&");
}

/** The absolute path in normal form; null if it is not absolute, holds NUL or climbs by `..` (a link may stand there). */
export function plainPath(path: string): string | null {
  if (!path.startsWith("/") || path.includes("\0") || path.split("/").includes("..")) return null;
  const normal = posix.normalize(path);
  return normal.length > 1 && normal.endsWith("/") ? normal.slice(0, -1) : normal;
}

/** The path relative to `folder` (both in normal form); null if it is not below it. */
export function pathBelow(path: string, folder: string): string | null {
  const prefix = folder === "/" ? "/" : `${folder}/`;
  return path.startsWith(prefix) && path.length > prefix.length ? path.slice(prefix.length) : null;
}

/**
 * True if an absolute path matches a pattern. `foldCase` is for deny rules: on file systems that fold case and
 * composition, another spelling is the same file.
 */
export function pathMatches(
  pattern: readonly string[],
  path: string,
  folder: string,
  foldCase: boolean,
): boolean {
  const subject = pattern[0] === "" ? path : pathBelow(path, folder);
  if (subject === null) return false;
  const fold = (text: string): string => (foldCase ? text.normalize("NFKC").toLowerCase() : text);
  const segments = subject.split("/").map(fold);
  let reachable: boolean[] = Array.from({ length: segments.length + 1 }, (_, index) => index === 0);
  for (const part of pattern.map(fold)) {
    const next = new Array<boolean>(segments.length + 1).fill(false);
    for (let index = 0; index <= segments.length; index += 1) {
      if (part === "**") next[index] = reachable[index] === true || (index > 0 && next[index - 1] === true);
      else if (index > 0 && reachable[index - 1])
        next[index] = segmentMatches(part, segments[index - 1] ?? "");
    }
    reachable = next;
  }
  return reachable[segments.length] === true;
}

/** `*`, `?` and backslash escapes in one segment; the last star is the only one worth going back to. */
function segmentMatches(pattern: string, segment: string): boolean {
  let patternAt = 0;
  let at = 0;
  let star = -1;
  let starAt = 0;
  while (at < segment.length) {
    const sign = pattern.charAt(patternAt);
    const escaped = sign === "\\" && patternAt + 1 < pattern.length;
    const literal = escaped ? pattern.charAt(patternAt + 1) : sign;
    if (sign === "*") {
      star = patternAt;
      starAt = at;
      patternAt += 1;
    } else if (sign === "?" || (literal !== "" && literal === segment.charAt(at))) {
      patternAt += escaped ? 2 : 1;
      at += 1;
    } else if (star >= 0) {
      patternAt = star + 1;
      starAt += 1;
      at = starAt;
    } else return false;
  }
  while (pattern.charAt(patternAt) === "*") patternAt += 1;
  return patternAt === pattern.length;
}
