/** An origin-form request target, judged (RFC 9112 §3.2.1). */
export interface Target {
  /** Decoded: what rules and routes compare. Starts with a slash, has no empty, `.` or `..` segment. */
  readonly path: string;
  /** The same path encoded in one way only, so that no router behind us can read it differently. */
  readonly routedPath: string;
  /** As sent, without the question mark; empty when there is none. Its escapes decode. */
  readonly rawQuery: string;
}

const pathCodes = codeTable("/%:@-._~!$&'()*+,;=");

/**
 * Judges a request target; null when it is not origin-form, too long, or does not decode cleanly: bad escapes, invalid
 * UTF-8, control characters, `//`, dot segments (encoded ones too), an encoded slash or backslash, a fragment.
 *
 * @param maxBytes bound on the whole target
 */
export function parseTarget(raw: string, maxBytes: number): Target | null {
  if (raw.length > maxBytes || raw.charCodeAt(0) !== 0x2f) return null;
  const questionAt = raw.indexOf("?");
  const end = questionAt === -1 ? raw.length : questionAt;
  let escaped = false;
  let afterSlash = false;
  let dotted = false;
  for (let at = 0; at < end; at++) {
    const code = raw.charCodeAt(at);
    if (pathCodes[code] !== 1) return null;
    if (code === 0x2f) {
      if (afterSlash) return null;
      afterSlash = true;
      continue;
    }
    if (code === 0x25) escaped = true;
    if (afterSlash && code === 0x2e) dotted = true;
    afterSlash = false;
  }
  const rawQuery = questionAt === -1 ? "" : raw.slice(questionAt + 1);
  if (rawQuery !== "" && !queryDecodes(rawQuery)) return null;
  const rawPath = questionAt === -1 ? raw : raw.slice(0, questionAt);
  if (!escaped && !dotted) return { path: rawPath, routedPath: rawPath, rawQuery };
  return decodePath(rawPath, rawQuery);
}

/**
 * A door's public address may have a path; its targets are answered with and without it. Segment for segment, so that
 * `/basement` does not lie below `/base`.
 *
 * @param basePath decoded, without a slash at its end; empty for none
 */
export function stripBase(target: Target, basePath: string): Target {
  if (basePath === "" || !target.path.startsWith(basePath)) return target;
  const rest = target.path.slice(basePath.length);
  if (rest !== "" && !rest.startsWith("/")) return target;
  const depth = basePath.split("/").length;
  const routedRest = target.routedPath.split("/").slice(depth).join("/");
  return { path: rest || "/", routedPath: `/${routedRest}`, rawQuery: target.rawQuery };
}

function decodePath(rawPath: string, rawQuery: string): Target | null {
  const segments: string[] = [];
  for (const rawSegment of rawPath.slice(1).split("/")) {
    const segment = decode(rawSegment);
    if (segment === null || segment === "." || segment === "..") return null;
    if (/[/\\\u0000-\u001f\u007f]/.test(segment)) return null;
    segments.push(segment);
  }
  return {
    path: `/${segments.join("/")}`,
    routedPath: `/${segments.map(encodeURIComponent).join("/")}`,
    rawQuery,
  };
}

function queryDecodes(rawQuery: string): boolean {
  for (let at = 0; at < rawQuery.length; at++) {
    const code = rawQuery.charCodeAt(at);
    if (code <= 0x20 || code >= 0x7f || code === 0x23) return false;
  }
  if (!rawQuery.includes("%")) return true;
  const query = decode(rawQuery);
  return query !== null && !query.includes("\u0000");
}

function decode(raw: string): string | null {
  try {
    return decodeURIComponent(raw);
  } catch {
    // A bad escape or invalid UTF-8: the caller refuses the whole target.
    return null;
  }
}

function codeTable(punctuation: string): Uint8Array {
  const table = new Uint8Array(128);
  const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
  for (const character of letters + punctuation) table[character.charCodeAt(0)] = 1;
  return table;
}
