import { access, constants } from "node:fs/promises";
import { networkInterfaces } from "node:os";
import { delimiter, join } from "node:path";
import { lanAddresses, urlHost } from "../../lib/net-addresses.ts";
import { type Finding, fail, ok, warn } from "./finding.ts";

const minMajor = 20;
const minMinor = 19;

/** Node 20.19 or later: what the package asks for. */
export function checkNode(version: string): Finding {
  const [major = 0, minor = 0] = version.replace(/^v/, "").split(".").map(Number);
  const isNewEnough = major > minMajor || (major === minMajor && minor >= minMinor);
  return isNewEnough
    ? ok("node", version)
    : fail(
        "node",
        `${version} is too old`,
        `Install Node ${minMajor}.${minMinor} or later: https://nodejs.org`,
      );
}

/** Pairing hashes with argon2, whose binary may be missing for a system. */
export async function checkArgon2(): Promise<Finding> {
  try {
    const argon2 = await import("argon2");
    await argon2.hash("doctor", { memoryCost: 1024, timeCost: 2, parallelism: 1 });
    return ok("argon2", "loads and works");
  } catch (error) {
    return fail(
      "argon2",
      `does not load (${error instanceof Error ? error.message : String(error)})`,
      "Install again for this system: npm ci",
    );
  }
}

/** The addresses that other machines on the network could use. */
export function checkNetwork(): Finding {
  const found = lanAddresses(networkInterfaces());
  return found.length === 0
    ? warn(
        "network",
        "This machine has no address that another could reach",
        "Connect it to a network, or use a tunnel.",
      )
    : ok(
        "network",
        found.map(({ address, interfaceName }) => `${urlHost(address)} (${interfaceName})`).join(", "),
      );
}

/** What `up --open` opens pages with. */
export async function checkBrowser(
  platform: NodeJS.Platform,
  env: Readonly<Record<string, string | undefined>>,
): Promise<Finding> {
  if (platform === "darwin" || platform === "win32") return ok("browser", "pages are opened by the system");
  for (const folder of (env.PATH ?? "").split(delimiter)) {
    if (folder === "") continue;
    const isThere = await access(join(folder, "xdg-open"), constants.X_OK).then(
      () => true,
      () => false,
    );
    if (isThere) return ok("browser", "pages are opened with xdg-open");
  }
  if (!env.DISPLAY && !env.WAYLAND_DISPLAY)
    return ok("browser", "there is no screen here; open the address on another device");
  return warn("browser", "There is no xdg-open, so --open cannot open a page", "Open the address by hand.");
}
