import { constants } from "node:fs";
import { lstat, open } from "node:fs/promises";
import { homedir } from "node:os";
import type { Config } from "./config.ts";
import { ConfigError } from "./config-error.ts";
import { maxConfigBytes, type ParseConfigOptions, parseConfig } from "./parse-config.ts";

/**
 * Reads and parses `config.toml`; one that does not exist is the defaults. It names programs to run and parts of the
 * gate, so a file that everybody can write is refused. A link is followed: people keep such files in a repository of theirs.
 *
 * @throws ConfigError
 */
export async function loadConfig(
  path: string,
  options: Pick<ParseConfigOptions, "ruleProblem"> & { readonly userHome?: string } = {},
): Promise<Config> {
  const text = await readConfigText(path);
  return parseConfig(text ?? "", {
    path,
    userHome: options.userHome ?? homedir(),
    ruleProblem: options.ruleProblem,
  });
}

/** The text of the file; null when there is none. */
export async function readConfigText(path: string): Promise<string | null> {
  const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return missing(path);
      throw new ConfigError(`${path} cannot be read (${error.code}).`, { cause: error });
    },
  );
  if (handle === null) return null;
  try {
    const stat = await handle.stat();
    if (!stat.isFile()) throw new ConfigError(`${path} is not a file.`);
    if (process.getuid && stat.uid !== process.getuid() && stat.uid !== 0)
      throw new ConfigError(`${path} belongs to another user (uid ${stat.uid}).`);
    if (process.getuid && (stat.mode & 0o002) !== 0)
      throw new ConfigError(`${path} can be written by others. Run: chmod 600 ${path}`);
    if (stat.size > maxConfigBytes)
      throw new ConfigError(`${path} is larger than ${maxConfigBytes / 1024} KiB.`);
    return await handle.readFile("utf8");
  } finally {
    await handle.close();
  }
}

/** A link that leads nowhere is no missing file: its deny rules must not vanish in silence. */
async function missing(path: string): Promise<null> {
  const link = await lstat(path).catch(() => null);
  if (link === null) return null;
  throw new ConfigError(`${path} is a link that leads nowhere. Point it at the file, or remove it.`);
}
