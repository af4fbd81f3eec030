import { isIP } from "node:net";
import { isAbsolute } from "node:path";
import type { ConfigProblem } from "./config-error.ts";
import type { RawConfig } from "./schema.ts";

const hostName =
  /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*\.?$/i;

/** True for a DNS name or an IP literal without brackets. */
export function isHostOrAddress(raw: string): boolean {
  return isIP(raw) !== 0 || hostName.test(raw);
}

/** `host` names what the main door binds when remote access is on. An empty one means nothing; it is not "all". */
export function checkHost(raw: RawConfig): ConfigProblem | null {
  if (raw.host === undefined) return null;
  if (raw.host.trim() === "")
    return {
      key: "host",
      message: 'is empty. Name an address of this machine, or "0.0.0.0" for all, or take the line out.',
    };
  if (!isHostOrAddress(raw.host))
    return {
      key: "host",
      message: "must be one address or name of this machine, without scheme, port or brackets.",
    };
  return null;
}

/** `hosts` are bare names: a port or scheme in one would never match a Host header's name. */
export function checkHosts(raw: RawConfig): ConfigProblem | null {
  for (const [index, host] of (raw.hosts ?? []).entries())
    if (!isHostOrAddress(host))
      return {
        key: `hosts.${index}`,
        message: "must be a name or address without scheme, port, path or wildcard.",
      };
  return null;
}

/** A door listens on a port of its own, or on a Unix socket with an absolute path, and has a public address. */
export function checkDoors(raw: RawConfig): ConfigProblem | null {
  const taken = new Set<string | number>();
  for (const [index, door] of (raw.door ?? []).entries()) {
    const key = `door.${index}.listen`;
    if (typeof door.listen === "string" && !isAbsolute(door.listen) && !door.listen.startsWith("~/"))
      return {
        key,
        message: "must be a port (a number from 1 to 65535) or an absolute path of a Unix socket.",
      };
    if (typeof door.listen === "string" && Buffer.byteLength(door.listen) > 100)
      return { key, message: "is too long: the system takes paths of at most 100 bytes for a Unix socket." };
    if (taken.has(door.listen)) return { key, message: "is taken by another door of this file." };
    taken.add(door.listen);
    if (door.listen === (raw.port ?? 7_700))
      return {
        key,
        message: "is the port of the main door. A door for forwarders needs a port of its own.",
      };
    const problem = urlProblem(door.url);
    if (problem !== null) return { key: `door.${index}.url`, message: problem };
  }
  return null;
}

function urlProblem(rawUrl: string): string | null {
  const next =
    "must be the public base address, such as https://box.example or https://box.example/sallyport.";
  if (!URL.canParse(rawUrl)) return next;
  const url = new URL(rawUrl);
  if (url.protocol !== "https:" && url.protocol !== "http:") return next;
  if (url.username !== "" || url.password !== "") return "must not hold a user name or a password.";
  if (url.search !== "" || url.hash !== "" || /[?#]/.test(rawUrl))
    return "must not hold a query or a fragment.";
  return null;
}
