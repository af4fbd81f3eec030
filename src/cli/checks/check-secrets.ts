import { parseFixedMasterToken } from "../../auth/master-token.ts";
import type { HomePaths } from "../../config/home-paths.ts";
import { readSecretFile } from "../../lib/secret-file.ts";
import { parseKeyFile } from "../../pairing/daemon-key.ts";
import { parseDeviceFile, type StoredDevice } from "../../pairing/device-file.ts";
import { readMasterToken } from "../../pairing/master-token-file.ts";
import { type Finding, fail, ok, warn } from "./finding.ts";

const maxFileBytes = 8 * 1024 * 1024;
const plausibleSkewMs = 5 * 60_000;
/** A clock before this is wrong: the program is younger. */
const firstReleaseMs = Date.UTC(2026, 0, 1);
const resetStep = "sallyport devices reset (every device must then pair again)";

/** Is the master token usable? Its value goes nowhere. */
export async function checkToken(
  paths: HomePaths,
  env: Readonly<Record<string, string | undefined>>,
): Promise<Finding> {
  if (env.SALLYPORT_TOKEN !== undefined) {
    try {
      parseFixedMasterToken(env.SALLYPORT_TOKEN, "SALLYPORT_TOKEN");
      return ok("token", "SALLYPORT_TOKEN fixes the master token");
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      return fail("token", error.message, null);
    }
  }
  const read = await readMasterToken(paths.daemonToken);
  if (read.ok) return ok("token", `${paths.daemonToken} holds the master token`);
  if (read.missing) return ok("token", `${paths.daemonToken} does not exist yet; the first start makes it`);
  return fail("token", read.error.message, null);
}

/** Are the device files whole and a pair? Also: does the clock agree with them? */
export async function checkDevices(paths: HomePaths, nowMs: number): Promise<readonly Finding[]> {
  const devices = await readPart(paths.devices, (text) => {
    const parsed = parseDeviceFile(text);
    return parsed.ok ? { value: parsed.devices } : { problem: parsed.problem };
  });
  const key = await readPart(paths.daemonKey, (text) =>
    parseKeyFile(text) === null ? { problem: "it is damaged" } : { value: true },
  );
  const damaged = [devices, key].find((part) => part.state === "damaged");
  const clock = checkClock(devices.state === "read" ? devices.value : [], nowMs);
  if (damaged?.state === "damaged")
    return [fail("devices", damaged.message, `Restore it from a backup, or: ${resetStep}`), clock];
  if (devices.state === "missing" && key.state === "read")
    return [
      fail("devices", `${paths.devices} is missing, but its key is there`, `Restore it, or: ${resetStep}`),
      clock,
    ];
  if (key.state === "missing" && devices.state === "read" && devices.value.length > 0)
    return [
      fail(
        "devices",
        `${paths.daemonKey} is missing, but devices are paired`,
        `Restore it, or: ${resetStep}`,
      ),
      clock,
    ];
  const count = devices.state === "read" ? devices.value.length : 0;
  return [ok("devices", count === 1 ? "1 device is paired" : `${count} devices are paired`), clock];
}

/** Expiry and pairing depend on the clock: a time before the program existed, or devices of the future, tell of a wrong one. */
export function checkClock(devices: readonly Pick<StoredDevice, "created">[], nowMs: number): Finding {
  const at = new Date(nowMs).toISOString();
  if (nowMs < firstReleaseMs) return fail("clock", `This machine says it is ${at}`, "Set the clock (NTP).");
  const newest = Math.max(0, ...devices.map(({ created }) => Date.parse(created)));
  if (newest > nowMs + plausibleSkewMs)
    return warn(
      "clock",
      `This machine says it is ${at}, but a device was paired at ${new Date(newest).toISOString()}`,
      "Set the clock (NTP): devices expire by it.",
    );
  return ok("clock", at);
}

type Part<T> =
  | { readonly state: "read"; readonly value: T }
  | { readonly state: "missing" }
  | { readonly state: "damaged"; readonly message: string };

async function readPart<T>(
  path: string,
  parse: (text: string) => { value: T } | { problem: string },
): Promise<Part<T>> {
  const read = await readSecretFile(path, maxFileBytes);
  if (!read.ok)
    return read.problem === "missing"
      ? { state: "missing" }
      : { state: "damaged", message: `${path}: ${read.detail}` };
  const parsed = parse(read.text);
  return "value" in parsed
    ? { state: "read", value: parsed.value }
    : { state: "damaged", message: `${path}: ${parsed.problem}` };
}
