import { isUtf8 } from "node:buffer";
import { SallyportError } from "../errors.ts";
import { limits } from "../protocol/limits.ts";

const quote = 0x22;
const backslash = 0x5c;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;

/**
 * True when arrays and objects nest deeper than `maxDepth` in this JSON text. Counted on the bytes, before a parser
 * recurses into them; strings and their escapes are skipped. Says nothing about whether the text is valid JSON.
 */
export function nestsDeeperThan(bytes: Uint8Array, maxDepth: number): boolean {
  let depth = 0;
  let inString = false;
  for (let index = 0; index < bytes.length; index += 1) {
    const byte = bytes[index];
    if (inString) {
      if (byte === backslash) index += 1;
      else if (byte === quote) inString = false;
    } else if (byte === quote) inString = true;
    else if (byte === openBracket || byte === openBrace) {
      depth += 1;
      if (depth > maxDepth) return true;
    } else if (byte === closeBracket || byte === closeBrace) depth -= 1;
  }
  return false;
}

/** A `__proto__` key in any spelling of its letters: nothing legitimate has one, and a merge somewhere would obey it. */
const protoKey =
  /"(?:_|\\u005[Ff]){2}(?:p|\\u0070)(?:r|\\u0072)(?:o|\\u006[Ff])(?:t|\\u0074)(?:o|\\u006[Ff])(?:_|\\u005[Ff]){2}"\s*:/;

/**
 * Parses untrusted JSON bytes. Throws `bad_request` for invalid UTF-8 or JSON, nesting over 64 and `__proto__` keys; the
 * parser's own message is not shown, since it quotes the input.
 */
export function parseUntrustedJson(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) throw new SallyportError("bad_request", "The JSON is not valid UTF-8.");
  if (nestsDeeperThan(bytes, limits.jsonDepth))
    throw new SallyportError("bad_request", `The JSON nests deeper than ${limits.jsonDepth} levels.`);
  const text = bytes.toString("utf8");
  if (protoKey.test(text)) throw new SallyportError("bad_request", "The JSON has a key named __proto__.");
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new SallyportError("bad_request", "This is not valid JSON.", { cause });
  }
}

/** A JSON object: what every body and command must be. */
export function isJsonObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
