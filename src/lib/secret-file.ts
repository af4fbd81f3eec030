import { closeSync, constants, fstatSync, openSync, readFileSync, type Stats } from "node:fs";
import { open } from "node:fs/promises";

/** Why a secret file was not used. `missing` is for the caller to decide; every other kind stops the daemon. */
export type SecretFileProblem =
  | "missing"
  | "link"
  | "not_a_file"
  | "foreign_owner"
  | "readable_by_others"
  | "too_large"
  | "unreadable";

export type SecretFileResult =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly problem: SecretFileProblem; readonly detail: string };

type Refusal = Extract<SecretFileResult, { ok: false }>;

const openFlags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * Reads a file that only this user may read. Opened without following links; owner, kind and mode are checked on the
 * opened file, not on its name. `maxBytes` bounds what is read.
 */
export async function readSecretFile(path: string, maxBytes: number): Promise<SecretFileResult> {
  const opened = await open(path, openFlags).catch((error: NodeJS.ErrnoException) => error);
  if (opened instanceof Error) return notOpened(opened);
  try {
    return judge(await opened.stat(), maxBytes) ?? { ok: true, text: await opened.readFile("utf8") };
  } finally {
    await opened.close();
  }
}

/** The same for one small file that is needed in the middle of a step. */
export function readSecretFileSync(path: string, maxBytes: number): SecretFileResult {
  let opened: number;
  try {
    opened = openSync(path, openFlags);
  } catch (error) {
    return notOpened(error as NodeJS.ErrnoException);
  }
  try {
    return judge(fstatSync(opened), maxBytes) ?? { ok: true, text: readFileSync(opened, "utf8") };
  } finally {
    closeSync(opened);
  }
}

function notOpened({ code, message }: NodeJS.ErrnoException): Refusal {
  if (code === "ENOENT") return { ok: false, problem: "missing", detail: "no such file" };
  if (code === "ELOOP") return { ok: false, problem: "link", detail: "it is a symbolic link" };
  return { ok: false, problem: "unreadable", detail: code ?? message };
}

function judge(stat: Stats, maxBytes: number): Refusal | null {
  if (!stat.isFile()) return { ok: false, problem: "not_a_file", detail: "not a regular file" };
  if (process.getuid && stat.uid !== process.getuid())
    return { ok: false, problem: "foreign_owner", detail: `owned by uid ${stat.uid}` };
  if (process.getuid && (stat.mode & 0o077) !== 0)
    return {
      ok: false,
      problem: "readable_by_others",
      detail: `mode ${(stat.mode & 0o777).toString(8)}, must be 600`,
    };
  if (stat.size > maxBytes) return { ok: false, problem: "too_large", detail: `${stat.size} bytes` };
  return null;
}
