import { isUtf8 } from "node:buffer";
import { SallyportError } from "../errors.ts";
import { limits } from "../protocol/limits.ts";

const quote = 0x22;
const backslash = 0x5c;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const comma = 0x2c;
const colon = 0x3a;

export interface JsonBounds {
  /** Arrays and objects in each other. */
  readonly maxDepth: number;
  /** Commas, colons and opening brackets: about as many as there are keys and values. */
  readonly maxMarks: number;
}

/**
 * Which bound this JSON text is over, or null. Counted on the bytes, before a parser recurses into them, or spends seconds
 * on a million keys; strings and their escapes are skipped. Says nothing about whether the text is valid JSON.
 */
export function jsonExcess(bytes: Uint8Array, { maxDepth, maxMarks }: JsonBounds): "depth" | "marks" | null {
  let depth = 0;
  let marks = 0;
  let inString = false;
  for (let index = 0; index < bytes.length; index += 1) {
    const byte = bytes[index];
    if (inString) {
      if (byte === backslash) index += 1;
      else if (byte === quote) inString = false;
    } else if (byte === quote) inString = true;
    else if (byte === openBracket || byte === openBrace) {
      depth += 1;
      marks += 1;
      if (depth > maxDepth) return "depth";
    } else if (byte === closeBracket || byte === closeBrace) depth -= 1;
    else if (byte === comma || byte === colon) marks += 1;
    if (marks > maxMarks) return "marks";
  }
  return null;
}

/** A `__proto__` key in any spelling of its letters: nothing legitimate has one, and a merge somewhere would obey it. */
const protoKey =
  /"(?:_|\\u005[Ff]){2}(?:p|\\u0070)(?:r|\\u0072)(?:o|\\u006[Ff])(?:t|\\u0074)(?:o|\\u006[Ff])(?:_|\\u005[Ff]){2}"\s*:/;

/**
 * Parses untrusted JSON bytes. Throws `bad_request` for invalid UTF-8 or JSON, nesting over 64, more values than anybody
 * has use for, and `__proto__` keys; the parser's own message is not shown, since it quotes the input.
 */
export function parseUntrustedJson(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) throw new SallyportError("bad_request", "The JSON is not valid UTF-8.");
  const excess = jsonExcess(bytes, { maxDepth: limits.jsonDepth, maxMarks: limits.jsonMarks });
  if (excess === "depth")
    throw new SallyportError("bad_request", `The JSON nests deeper than ${limits.jsonDepth} levels.`);
  if (excess === "marks") throw new SallyportError("bad_request", "The JSON has too many values.");
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
