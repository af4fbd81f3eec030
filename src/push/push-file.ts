import { createECDH, createPublicKey } from "node:crypto";
import { type Static, Type } from "typebox";
import { createChecker } from "../lib/checker.ts";
import { type FileFormat, migrateText } from "../lib/migrate.ts";
import { PushKindSchema } from "../protocol/push.ts";

export const maxSubscriptions = 2_000;

const Id = Type.String({ pattern: "^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$" });
const Time = Type.String({ pattern: "^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{3}Z$" });

const StoredSubscriptionSchema = Type.Object(
  {
    id: Id,
    device: Id,
    endpoint: Type.String({ minLength: 1, maxLength: 2_048 }),
    p256dh: Type.String({ pattern: "^[A-Za-z0-9_-]{87}$" }),
    auth_secret: Type.String({ pattern: "^[A-Za-z0-9_-]{22}$" }),
    kinds: Type.Array(PushKindSchema, { minItems: 1, maxItems: 2, uniqueItems: true }),
    created: Time,
  },
  { additionalProperties: false },
);
const VapidSchema = Type.Object(
  {
    public_key: Type.String({ pattern: "^[A-Za-z0-9_-]{87}$" }),
    private_key_secret: Type.String({ pattern: "^[A-Za-z0-9_-]{43}$" }),
  },
  { additionalProperties: false },
);
const PushFileSchema = Type.Object(
  {
    version: Type.Literal(1),
    vapid: VapidSchema,
    subscriptions: Type.Array(StoredSubscriptionSchema, { maxItems: maxSubscriptions }),
  },
  { additionalProperties: false },
);
export type StoredSubscription = Readonly<Static<typeof StoredSubscriptionSchema>>;
/** The key pair that tells push services who sends (RFC 8292), base64url. */
export type VapidKeys = Readonly<Static<typeof VapidSchema>>;

export interface PushFile {
  readonly vapid: VapidKeys;
  readonly subscriptions: readonly StoredSubscription[];
}

/** The format of `push.json`, and how older ones become it. */
const pushFormat: FileFormat = { version: 1, migrations: [] };

const pushFile = createChecker(PushFileSchema);

export type PushFileResult =
  | { readonly ok: true; readonly file: PushFile }
  | { readonly ok: false; readonly problem: string };

/** Reads `push.json`, strictly: half of a key or of a list is worse than none. */
export function parsePushFile(rawText: string): PushFileResult {
  const found = migrateText(rawText, pushFormat);
  if (!found.ok) return found;
  const raw = found.value;
  if (!pushFile.check(raw)) return { ok: false, problem: "it is damaged" };
  for (const key of ["id", "endpoint"] as const)
    if (new Set(raw.subscriptions.map((each) => each[key])).size !== raw.subscriptions.length)
      return { ok: false, problem: "it lists a subscription twice" };
  if (!isKeyPair(raw.vapid)) return { ok: false, problem: "its keys do not belong together" };
  return { ok: true, file: { vapid: raw.vapid, subscriptions: raw.subscriptions } };
}

export function formatPushFile({ vapid, subscriptions }: PushFile): string {
  return `${JSON.stringify({ version: 1, vapid, subscriptions }, null, 2)}\n`;
}

/** A new pair on P-256 (RFC 8292 §3.2): the point uncompressed, the number of full length. */
export function newVapidKeys(): VapidKeys {
  const pair = createECDH("prime256v1");
  const publicKey = pair.generateKeys();
  const number = pair.getPrivateKey();
  const privateKey = Buffer.concat([Buffer.alloc(32 - number.length), number]);
  return {
    public_key: publicKey.toString("base64url"),
    private_key_secret: privateKey.toString("base64url"),
  };
}

function isKeyPair({ public_key, private_key_secret }: VapidKeys): boolean {
  try {
    const pair = createECDH("prime256v1");
    pair.setPrivateKey(Buffer.from(private_key_secret, "base64url"));
    return pair.getPublicKey().toString("base64url") === public_key;
  } catch {
    // A number outside of the curve's range.
    return false;
  }
}

/** True for a point of P-256 that a browser may have as its key: what is on no curve would make encryption throw. */
export function isP256Point(rawKey: string): boolean {
  const bytes = Buffer.from(rawKey, "base64url");
  if (bytes.length !== 65 || bytes[0] !== 4 || bytes.toString("base64url") !== rawKey) return false;
  try {
    const x = bytes.subarray(1, 33).toString("base64url");
    const y = bytes.subarray(33).toString("base64url");
    createPublicKey({ format: "jwk", key: { kty: "EC", crv: "P-256", x, y } });
    return true;
  } catch {
    // Not on the curve.
    return false;
  }
}
