import { chmod, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { newKeyFile } from "../../src/pairing/daemon-key.ts";
import { formatDeviceFile } from "../../src/pairing/device-file.ts";
import { type DevicePaths, loadDeviceFiles } from "../../src/pairing/load-device-files.ts";
import { resetDeviceFiles } from "../../src/pairing/reset-device-files.ts";
import { refusalOf, storedDevice, temporaryHome } from "./fakes.ts";

const now = Date.UTC(2026, 10, 30, 12);
const keyFile = (): string => newKeyFile("2026-11-30T12:00:00.000Z");
const put = (path: string, text: string): Promise<void> => writeFile(path, text, { mode: 0o600 });

/** A home with a device and its key, as a daemon left it. */
async function usedHome() {
  const paths = await temporaryHome();
  const device = storedDevice();
  await put(paths.devices, formatDeviceFile([device]));
  await put(paths.daemonKey, keyFile());
  return { paths, device };
}

async function everything(paths: DevicePaths & { home: string }): Promise<Record<string, string>> {
  const names = (await readdir(paths.home)).sort();
  const texts = await Promise.all(
    names.map((name) => readFile(`${paths.home}/${name}`, "utf8").catch(() => "?")),
  );
  return Object.fromEntries(names.map((name, index) => [name, texts[index] ?? ""]));
}

describe("loadDeviceFiles", () => {
  it("makes both files on the first start, for this user only, and reads the same ones on the next", async () => {
    const paths = await temporaryHome();
    const first = await loadDeviceFiles(paths, now);
    expect(first.devices).toEqual([]);
    expect(first.keys.previous).toBeNull();
    for (const path of [paths.devices, paths.daemonKey]) expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(await readdir(paths.home)).toHaveLength(2);
    const second = await loadDeviceFiles(paths, now);
    expect(second.keys.current.kid).toBe(first.keys.current.kid);
    expect(second.keys.current.secretKey.equals(first.keys.current.secretKey)).toBe(true);
  });

  it("kill -9 between the two files of the first start: the next start makes the key", async () => {
    const paths = await temporaryHome();
    await put(paths.devices, formatDeviceFile([]));
    expect((await loadDeviceFiles(paths, now)).devices).toEqual([]);
    expect(await readFile(paths.daemonKey, "utf8")).toContain('"current"');
  });

  it("reads devices and both keys", async () => {
    const { paths, device } = await usedHome();
    const old = JSON.parse(keyFile()) as { current: { kid: string; secret: string; created: string } };
    await put(paths.daemonKey, newKeyFile("2026-11-30T12:00:00.000Z", old.current));
    const loaded = await loadDeviceFiles(paths, now);
    expect(loaded.devices).toEqual([device]);
    expect(loaded.keys.previous?.kid).toBe(old.current.kid);
  });

  const device = storedDevice();
  const twice = formatDeviceFile([device, device]);
  const changed = (changes: object): string =>
    JSON.stringify({ version: 1, devices: [{ ...device, ...changes }] });

  it.each([
    ["empty", ""],
    ["cut off", formatDeviceFile([device]).slice(0, 100)],
    ["no JSON", "{"],
    ["null", "null"],
    ["an array", "[]"],
    ["without a version", '{"devices":[]}'],
    ["of a newer version", '{"version":2,"devices":[]}'],
    ["without devices", '{"version":1}'],
    ["with a field we do not know", '{"version":1,"devices":[],"revoked":["x"]}'],
    ["with a device twice", twice],
    ["with an unknown scope", changed({ scopes: ["root"] })],
    ["with no scope", changed({ scopes: [] })],
    ["with a restriction we do not know", changed({ only_at_night: true })],
    [
      "with a hash of other parameters",
      changed({ token_hash: device.token_hash.replace("m=19456", "m=4194304") }),
    ],
    ["with no hash", changed({ token_hash: "" })],
    ["with an id that is a path", changed({ id: "../../etc/passwd" })],
    ["with a day that does not exist", changed({ expires: "2026-13-45T99:00:00.000Z" })],
    ["with a time of no form", changed({ created: "yesterday" })],
    ["of NULs, as after a power cut", "\0".repeat(300)],
  ])("damaged: devices.json that is %s stops the start and stays as it is", async (_, text) => {
    const { paths } = await usedHome();
    await put(paths.devices, text);
    const before = await everything(paths);
    const refusal = await refusalOf(loadDeviceFiles(paths, now));
    expect(refusal.message).toContain(paths.devices);
    expect(refusal.message).toContain("sallyport devices reset");
    expect(await everything(paths)).toEqual(before);
  });

  const key = JSON.parse(keyFile()) as { current: { secret: string } };
  it.each([
    ["empty", ""],
    ["no JSON", "spm_x"],
    ["cut off", keyFile().slice(0, 40)],
    ["of a newer version", JSON.stringify({ ...key, version: 2 })],
    ["with a short secret", JSON.stringify({ ...key, current: { ...key.current, secret: "abc" } })],
    ["with an empty secret", JSON.stringify({ ...key, current: { ...key.current, secret: "" } })],
    [
      "with a secret spelt otherwise",
      JSON.stringify({ ...key, current: { ...key.current, secret: `${"A".repeat(42)}B` } }),
    ],
    ["with the same key twice", JSON.stringify({ ...key, previous: key.current })],
    ["without a previous one", JSON.stringify({ version: 1, current: key.current })],
  ])("damaged: daemon.key that is %s stops the start and stays as it is", async (_, text) => {
    const { paths } = await usedHome();
    await put(paths.daemonKey, text);
    const before = await everything(paths);
    const refusal = await refusalOf(loadDeviceFiles(paths, now));
    expect(refusal.message).toContain(paths.daemonKey);
    expect(refusal.message).toContain("sallyport devices reset");
    expect(refusal.message).not.toContain(key.current.secret);
    expect(await everything(paths)).toEqual(before);
  });

  it.each(["devices", "daemonKey"] as const)(
    "missing: %s beside the other stops the start",
    async (which) => {
      const { paths } = await usedHome();
      await rm(paths[which]);
      const before = await everything(paths);
      const refusal = await refusalOf(loadDeviceFiles(paths, now));
      expect(refusal.message).toContain(paths[which]);
      expect(refusal.message).toContain("sallyport devices reset");
      expect(await everything(paths)).toEqual(before);
    },
  );

  it("missing: devices.json beside a key stops the start even if nothing was ever paired", async () => {
    const paths = await temporaryHome();
    await put(paths.daemonKey, keyFile());
    expect((await refusalOf(loadDeviceFiles(paths, now))).message).toContain(paths.devices);
  });

  it.each(["devices", "daemonKey"] as const)(
    "readable by others: %s stops the start and names chmod",
    async (which) => {
      const { paths } = await usedHome();
      await chmod(paths[which], 0o640);
      const refusal = await refusalOf(loadDeviceFiles(paths, now));
      expect(refusal.message).toContain(`chmod 600 ${paths[which]}`);
    },
  );

  it.each(["devices", "daemonKey"] as const)(
    "a link or a folder in place of %s stops the start",
    async (which) => {
      const { paths } = await usedHome();
      const elsewhere = `${paths.home}/elsewhere`;
      await put(elsewhere, await readFile(paths[which], "utf8"));
      await rm(paths[which]);
      await symlink(elsewhere, paths[which]);
      expect((await refusalOf(loadDeviceFiles(paths, now))).message).toContain("symbolic link");
      await rm(paths[which]);
      await mkdir(paths[which]);
      expect((await refusalOf(loadDeviceFiles(paths, now))).message).toContain("sallyport devices reset");
    },
  );
});

describe("resetDeviceFiles", () => {
  it("sets both files aside with their content, and the next start begins anew", async () => {
    const { paths } = await usedHome();
    await put(paths.devices, "damaged");
    const moved = await resetDeviceFiles(paths, now);
    expect(moved).toHaveLength(2);
    expect(moved[0]).toMatch(/devices\.json\.2026-11-30T12-00-00-000Z-/);
    expect(await readFile(moved[0] ?? "", "utf8")).toBe("damaged");
    expect((await loadDeviceFiles(paths, now)).devices).toEqual([]);
  });

  it("does it twice in the same millisecond without losing the first", async () => {
    const { paths } = await usedHome();
    await resetDeviceFiles(paths, now);
    await loadDeviceFiles(paths, now);
    await resetDeviceFiles(paths, now);
    expect(await readdir(paths.home)).toHaveLength(4);
  });

  it("has nothing to do in an empty home, and leaves a good master token alone", async () => {
    const paths = await temporaryHome();
    await put(paths.daemonToken, `spm_${"A".repeat(43)}\n`);
    expect(await resetDeviceFiles(paths, now)).toEqual([]);
    await put(paths.daemonToken, "damaged");
    expect(await resetDeviceFiles(paths, now)).toHaveLength(1);
  });
});
