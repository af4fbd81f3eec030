/**
 * Strikes out whatever looks like a secret in a line for the log: our tokens and tickets, pairing codes, what stands behind
 * `Bearer` or `Authorization`, JSON Web Signatures, and every query string and pairing fragment of a URL or target. Works
 * on the finished line, so that no field, nested object or error text gets past it. Never matches a quote or a backslash:
 * a line of JSON stays one.
 */
export function redact(line: string): string {
  let text = line;
  for (const [pattern, replacement] of patterns) text = text.replace(pattern, replacement);
  return text;
}

const patterns: readonly (readonly [RegExp, string])[] = [
  [/\bsp[mdt]_[A-Za-z0-9._~+/=-]+/g, "[secret]"],
  [/"(\w*(?:token|secret|ticket|password|authorization|cookie)\w*)":"[^"\\]+/gi, '"$1":"[secret]'],
  [/\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]+/gi, "$1 [secret]"],
  [/(authorization\\?"?\s*[:=]\s*\\?"?)[^"\\,}]+/gi, "$1[secret]"],
  [/\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]*)?/g, "[secret]"],
  [/\b(token|ticket|pair|code|secret|password)=[^&\s"\\]+/gi, "$1=[secret]"],
  [/(\/[^\s"\\?]*)\?[^\s"\\]+/g, "$1?[query]"],
  [/\b[0-9A-HJKMNP-TV-Z]{5}-[0-9A-HJKMNP-TV-Z]{5}\b/gi, "[code]"],
];
