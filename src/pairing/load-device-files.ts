import type { TokenKeys } from "../auth/device-token.ts";
import { toTime } from "../lib/clock.ts";
import { createSecretFile } from "../lib/create-secret-file.ts";
import { readSecretFile } from "../lib/secret-file.ts";
import { newKeyFile, parseKeyFile } from "./daemon-key.ts";
import { formatDeviceFile, parseDeviceFile, type StoredDevice } from "./device-file.ts";
import { damagedFile, unusableFile } from "./start-error.ts";

/** Where the pairing files are; the home's paths have these fields. */
export interface DevicePaths {
  readonly daemonToken: string;
  readonly daemonKey: string;
  readonly devices: string;
  readonly audit: string;
}

export interface DeviceFiles {
  readonly keys: TokenKeys;
  readonly devices: readonly StoredDevice[];
}

const maxKeyFileBytes = 64 * 1024;
const maxDeviceFileBytes = 8 * 1024 * 1024;

/**
 * Reads the key and the devices, or makes both on the first start. The empty `devices.json` is written first: a crash in
 * between leaves a list without devices and no key, which is the one incomplete state that loses nothing.
 *
 * @param now epoch milliseconds
 * @throws SallyportError naming the file and `sallyport devices reset`; nothing is changed then
 */
export async function loadDeviceFiles(paths: DevicePaths, now: number): Promise<DeviceFiles> {
  const devices = await readDevices(paths.devices);
  const keys = await readKeys(paths.daemonKey);
  if (devices && keys) return { devices, keys };
  if (keys) throw damagedFile(paths.devices, `it is missing, but its key ${paths.daemonKey} is there`);
  if (devices && devices.length > 0)
    throw damagedFile(paths.daemonKey, `it is missing, but devices are paired in ${paths.devices}`);
  if (!devices) await createSecretFile(paths.devices, formatDeviceFile([]));
  await createSecretFile(paths.daemonKey, newKeyFile(toTime(now)));
  const made = await readKeys(paths.daemonKey);
  if (!made) throw damagedFile(paths.daemonKey, "it vanished while it was made");
  return { devices: [], keys: made };
}

async function readDevices(path: string): Promise<readonly StoredDevice[] | null> {
  const rawText = await readOrNull(path, maxDeviceFileBytes);
  if (rawText === null) return null;
  const parsed = parseDeviceFile(rawText);
  if (!parsed.ok) throw damagedFile(path, parsed.problem);
  return parsed.devices;
}

async function readKeys(path: string): Promise<TokenKeys | null> {
  const rawText = await readOrNull(path, maxKeyFileBytes);
  if (rawText === null) return null;
  const keys = parseKeyFile(rawText);
  if (!keys) throw damagedFile(path, "it is damaged");
  return keys;
}

async function readOrNull(path: string, maxBytes: number): Promise<string | null> {
  const read = await readSecretFile(path, maxBytes);
  if (read.ok) return read.text;
  if (read.problem === "missing") return null;
  throw unusableFile(path, read.problem, read.detail);
}
