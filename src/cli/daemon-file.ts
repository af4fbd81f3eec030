import { readSecretFile, type SecretFileProblem } from "../lib/secret-file.ts";

const maxDaemonFileBytes = 64 * 1024;

/** What `daemon.json` tells about the daemon that wrote it. It can outlive a daemon that crashed. */
export interface DaemonFile {
  /** `http://127.0.0.1:7700`: always plain HTTP to a loopback address, without a trailing slash. */
  readonly url: string;
  readonly port: number;
  readonly masterToken: string;
  readonly pid: number;
  readonly version: string;
  readonly instance: string;
}

export type DaemonFileResult =
  | { readonly ok: true; readonly file: DaemonFile }
  | { readonly ok: false; readonly problem: SecretFileProblem | "damaged"; readonly detail: string };

/** Reads `daemon.json`. A file that others can read or that is a link is not believed. */
export async function readDaemonFile(path: string): Promise<DaemonFileResult> {
  const read = await readSecretFile(path, maxDaemonFileBytes);
  if (!read.ok) return read;
  const file = parseDaemonFile(read.text);
  if (file === null) return { ok: false, problem: "damaged", detail: "it does not describe a daemon" };
  return { ok: true, file };
}

/** The file's text as a value; null when it is damaged or names an address that is not of this machine. */
export function parseDaemonFile(text: string): DaemonFile | null {
  let raw: unknown;
  try {
    raw = JSON.parse(text);
  } catch {
    return null;
  }
  if (typeof raw !== "object" || raw === null) return null;
  const { url, token, pid, version, instance } = raw as Record<string, unknown>;
  const address = typeof url === "string" ? parseLocalUrl(url) : null;
  if (address === null || typeof token !== "string" || token === "") return null;
  if (typeof pid !== "number" || !Number.isSafeInteger(pid) || pid <= 0) return null;
  return {
    ...address,
    masterToken: token,
    pid,
    version: typeof version === "string" ? version : "unknown",
    instance: typeof instance === "string" ? instance : "",
  };
}

/** Only a loopback address is one of a local daemon: a token must not follow a damaged file to another machine. */
function parseLocalUrl(rawUrl: string): { url: string; port: number } | null {
  if (!URL.canParse(rawUrl)) return null;
  const parsed = new URL(rawUrl);
  const isLoopback =
    /^127(?:\.\d{1,3}){3}$/.test(parsed.hostname) ||
    parsed.hostname === "[::1]" ||
    parsed.hostname === "localhost";
  if (parsed.protocol !== "http:" || !isLoopback) return null;
  return { url: parsed.origin, port: parsed.port === "" ? 80 : Number(parsed.port) };
}
