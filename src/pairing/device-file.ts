import { type Static, Type } from "typebox";
import { tokenHashPattern } from "../auth/token-hash.ts";
import { createChecker } from "../lib/checker.ts";
import { type FileFormat, migrateText } from "../lib/migrate.ts";
import { limits } from "../protocol/limits.ts";
import { DeviceKindSchema } from "../protocol/objects.ts";
import { ScopeSchema } from "../protocol/scopes.ts";

export const maxDevices = 1_000;

const Id = Type.String({ pattern: "^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$" });
const Time = Type.String({ pattern: "^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{3}Z$" });

/** A device at rest. Nothing in it can be presented: the token's secret is there as an argon2id hash only. */
const StoredDeviceSchema = Type.Object(
  {
    id: Id,
    name: Type.String({ minLength: 1, maxLength: limits.deviceNameChars }),
    kind: DeviceKindSchema,
    scopes: Type.Array(ScopeSchema, { minItems: 1, maxItems: 4, uniqueItems: true }),
    created: Time,
    expires: Type.Union([Time, Type.Null()]),
    last_seen: Type.Union([Time, Type.Null()]),
    local_only: Type.Boolean(),
    token_hash: Type.String({ pattern: tokenHashPattern }),
  },
  { additionalProperties: false },
);
const DeviceFileSchema = Type.Object(
  { version: Type.Literal(1), devices: Type.Array(StoredDeviceSchema, { maxItems: maxDevices }) },
  { additionalProperties: false },
);
export type StoredDevice = Static<typeof StoredDeviceSchema>;

/** The format of `devices.json`, and how older ones become it. */
export const deviceFormat: FileFormat = { version: 1, migrations: [] };

const deviceFile = createChecker(DeviceFileSchema);

export type DeviceFileResult =
  | { readonly ok: true; readonly devices: readonly StoredDevice[] }
  | { readonly ok: false; readonly problem: string };

/** Reads `devices.json`, strictly: a field that we do not know may be a restriction, and rewriting would lose it. */
export function parseDeviceFile(rawText: string): DeviceFileResult {
  const found = migrateText(rawText, deviceFormat);
  if (!found.ok) return found;
  const raw = found.value;
  if (!deviceFile.check(raw)) return { ok: false, problem: "it is damaged" };
  if (new Set(raw.devices.map(({ id }) => id)).size !== raw.devices.length)
    return { ok: false, problem: "it lists a device twice" };
  const times = raw.devices.flatMap(({ created, expires, last_seen }) => [created, expires, last_seen]);
  if (times.some((time) => time !== null && Number.isNaN(Date.parse(time))))
    return { ok: false, problem: "it holds a time that does not exist" };
  return { ok: true, devices: raw.devices };
}

export function formatDeviceFile(devices: readonly StoredDevice[]): string {
  return `${JSON.stringify({ version: 1, devices }, null, 2)}\n`;
}
