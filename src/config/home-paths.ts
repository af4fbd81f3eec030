import { homedir } from "node:os";
import { isAbsolute, join, resolve } from "node:path";

/** Every file of the home; nothing else in the program builds such a path. */
export interface HomePaths {
  readonly home: string;
  readonly config: string;
  readonly credentials: string;
  readonly state: string;
  readonly daemonFile: string;
  readonly daemonToken: string;
  readonly daemonKey: string;
  readonly daemonLog: string;
  readonly devices: string;
  readonly audit: string;
  readonly receipts: string;
  /** Daemons elsewhere that this machine is paired with, and its tokens there. */
  readonly remotes: string;
  /** Whom to notify, and the key that says to push services who does. */
  readonly push: string;
  readonly workspaces: string;
  readonly sessions: string;
  readonly jobs: string;
  /** Without the number that each holder of the lock appends: `daemon.lock.7`. */
  readonly lockPrefix: string;
}

/** The paths of the files below `home`, an absolute path. */
export function homePaths(home: string): HomePaths {
  if (!isAbsolute(home)) throw new TypeError(`the home must be an absolute path: ${home}`);
  return {
    home,
    config: join(home, "config.toml"),
    credentials: join(home, "credentials.toml"),
    state: join(home, "state.json"),
    daemonFile: join(home, "daemon.json"),
    daemonToken: join(home, "daemon.token"),
    daemonKey: join(home, "daemon.key"),
    daemonLog: join(home, "daemon.log"),
    devices: join(home, "devices.json"),
    audit: join(home, "audit.jsonl"),
    receipts: join(home, "receipts.jsonl"),
    remotes: join(home, "remotes.json"),
    push: join(home, "push.json"),
    workspaces: join(home, "workspaces"),
    sessions: join(home, "sessions"),
    jobs: join(home, "jobs"),
    lockPrefix: join(home, "daemon.lock."),
  };
}

/**
 * Which folder is the home: `--home`, else `$SALLYPORT_HOME`, else `~/.sallyport`. A relative one counts from the working
 * folder. An empty value is a mistake of the caller's script, never "the default".
 *
 * @throws RangeError with a text for the user
 */
export function resolveHome(
  flag: string | undefined,
  env: Readonly<Record<string, string | undefined>>,
): string {
  if (flag === "") throw new RangeError("--home is empty. Name a folder, or leave the option away.");
  if (flag !== undefined) return resolve(flag);
  const fromEnv = env.SALLYPORT_HOME;
  if (fromEnv === "") throw new RangeError("SALLYPORT_HOME is set but empty. Name a folder, or unset it.");
  if (fromEnv !== undefined) return resolve(fromEnv);
  return join(homedir(), ".sallyport");
}
