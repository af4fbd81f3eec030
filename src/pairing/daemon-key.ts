import { createSecretKey, randomBytes } from "node:crypto";
import { type Static, Type } from "typebox";
import type { TokenKey, TokenKeys } from "../auth/device-token.ts";
import { createChecker } from "../lib/checker.ts";
import { randomSecret } from "../lib/ids.ts";

const KeySchema = Type.Object(
  {
    kid: Type.String({ pattern: "^[A-Za-z0-9_-]{8,32}$" }),
    secret: Type.String({ pattern: "^[A-Za-z0-9_-]{43}$" }),
    created: Type.String(),
  },
  { additionalProperties: false },
);
const KeyFileSchema = Type.Object(
  { version: Type.Literal(1), current: KeySchema, previous: Type.Union([KeySchema, Type.Null()]) },
  { additionalProperties: false },
);
type StoredKey = Static<typeof KeySchema>;

const keyFile = createChecker(KeyFileSchema);

/** The content of a new `daemon.key`. The key before the current one stays beside it, so that its tokens still count. */
export function newKeyFile(created: string, previous: StoredKey | null = null): string {
  const current: StoredKey = { kid: randomSecret(9), secret: randomBytes(32).toString("base64url"), created };
  return `${JSON.stringify({ version: 1, current, previous }, null, 2)}\n`;
}

/** Reads `daemon.key`. Null: damaged. */
export function parseKeyFile(rawText: string): TokenKeys | null {
  let raw: unknown;
  try {
    raw = JSON.parse(rawText);
  } catch {
    // Damaged: the caller names the file and stops.
    return null;
  }
  if (!keyFile.check(raw)) return null;
  if (raw.previous?.kid === raw.current.kid) return null;
  const current = toTokenKey(raw.current);
  const previous = raw.previous && toTokenKey(raw.previous);
  return current && (previous || raw.previous === null) ? { current, previous } : null;
}

function toTokenKey(stored: StoredKey): TokenKey | null {
  const bytes = Buffer.from(stored.secret, "base64url");
  // 43 characters hold two spare bits: only the canonical spelling is the one that we wrote.
  if (bytes.byteLength !== 32 || bytes.toString("base64url") !== stored.secret) return null;
  return { kid: stored.kid, secretKey: createSecretKey(bytes) };
}
