import { unlink } from "node:fs/promises";
import { writeFileAtomic } from "../lib/atomic-file.ts";
import { readSecretFile } from "../lib/secret-file.ts";

/** What `daemon.json` tells local clients about the daemon that runs. */
export interface DaemonFileFields {
  readonly port: number;
  readonly masterToken: string;
  readonly pid: number;
  readonly version: string;
  /** RFC 3339. */
  readonly started: string;
  readonly instance: string;
}

const maxBytes = 64 * 1024;

/** Writes `daemon.json` (0600) over whatever an earlier daemon left there. Its `url` is always loopback and plain HTTP. */
export async function writeDaemonFile(path: string, fields: DaemonFileFields): Promise<void> {
  const url = `http://127.0.0.1:${fields.port}`;
  const content = {
    url,
    token: fields.masterToken,
    pid: fields.pid,
    version: fields.version,
    urls: [`${url}/?token=${encodeURIComponent(fields.masterToken)}`],
    started: fields.started,
    instance: fields.instance,
  };
  await writeFileAtomic(path, `${JSON.stringify(content, null, 2)}\n`);
}

/** Where the daemon that wrote the file says it is; null when there is no file, or it is damaged or not to be trusted. */
export async function readDaemonFile(
  path: string,
): Promise<Pick<DaemonFileFields, "port" | "masterToken" | "pid"> | null> {
  const read = await readSecretFile(path, maxBytes);
  const raw = read.ok ? parsed(read.text) : null;
  if (raw === null || typeof raw.url !== "string" || !URL.canParse(raw.url)) return null;
  const port = Number(new URL(raw.url).port);
  const { token: masterToken, pid } = raw;
  if (typeof masterToken !== "string" || masterToken === "" || typeof pid !== "number" || port === 0)
    return null;
  return { port, masterToken, pid };
}

/** Removes the file if it is this instance's: a later daemon's is left alone. */
export async function removeDaemonFile(path: string, instance: string): Promise<void> {
  const read = await readSecretFile(path, maxBytes);
  if (!read.ok || parsed(read.text)?.instance !== instance) return;
  await unlink(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
  });
}

function parsed(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const raw: unknown = JSON.parse(text);
    return typeof raw === "object" && raw !== null ? (raw as Record<string, unknown>) : null;
  } catch {
    // Damaged: no daemon can be found by it, and none of ours wrote it whole.
    return null;
  }
}
