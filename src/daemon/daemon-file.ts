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

/** Removes the file if it is this instance's: a later daemon's is left alone. */
export async function removeDaemonFile(path: string, instance: string): Promise<void> {
  const read = await readSecretFile(path, maxBytes);
  if (!read.ok || instanceOf(read.text) !== instance) return;
  await unlink(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
  });
}

function instanceOf(text: string): string | null {
  try {
    const raw: unknown = JSON.parse(text);
    return typeof raw === "object" && raw !== null && "instance" in raw ? String(raw.instance) : null;
  } catch {
    // Damaged: not one that this process wrote.
    return null;
  }
}
