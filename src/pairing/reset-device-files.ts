import { lstat, rename } from "node:fs/promises";
import { parseMasterTokenFile } from "../auth/master-token.ts";
import { toTime } from "../lib/clock.ts";
import { randomSecret } from "../lib/ids.ts";
import { readSecretFile } from "../lib/secret-file.ts";
import type { DevicePaths } from "./load-device-files.ts";
import { maxMasterTokenFileBytes } from "./master-token-file.ts";

/**
 * Sets the pairing files aside (`sallyport devices reset`): `devices.json`, `daemon.key`, and `daemon.token` if it cannot
 * be used. They are renamed, never deleted, and the next start makes new ones. Every device must pair again. Only while
 * no daemon runs on this home: a running one would write its devices back.
 *
 * @param now epoch milliseconds, for the suffix
 * @returns the new names of the files that were there
 */
export async function resetDeviceFiles(paths: DevicePaths, now: number): Promise<readonly string[]> {
  const suffix = `${toTime(now).replaceAll(/[:.]/g, "-")}-${randomSecret(3)}`;
  const setAside: string[] = [];
  for (const path of [paths.devices, paths.daemonKey]) {
    const moved = await moveIfThere(path, `${path}.${suffix}`);
    if (moved !== null) setAside.push(moved);
  }
  if (await tokenIsUnusable(paths.daemonToken)) {
    const moved = await moveIfThere(paths.daemonToken, `${paths.daemonToken}.${suffix}`);
    if (moved !== null) setAside.push(moved);
  }
  return setAside;
}

async function moveIfThere(path: string, target: string): Promise<string | null> {
  try {
    await lstat(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
  await rename(path, target);
  return target;
}

async function tokenIsUnusable(path: string): Promise<boolean> {
  const read = await readSecretFile(path, maxMasterTokenFileBytes);
  if (!read.ok) return read.problem !== "missing";
  return parseMasterTokenFile(read.text) === null;
}
