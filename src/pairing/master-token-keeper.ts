import { newMasterToken } from "../auth/master-token.ts";
import type { Lease } from "../auth/principal.ts";
import { createTokenDigester, digestsEqual, type TokenDigester } from "../auth/token-digest.ts";
import type { Clock } from "../lib/clock.ts";
import { createSecretFile } from "../lib/create-secret-file.ts";
import { type Scope, scopes } from "../protocol/scopes.ts";
import { createLease, type LeaseHandle } from "./lease.ts";
import {
  type FileIdentity,
  identify,
  loadMasterToken,
  readMasterToken,
  sameFile,
} from "./master-token-file.ts";

export interface MasterTokenOptions {
  /** `daemon.token`; not touched when the token is fixed. */
  readonly path: string;
  /** From `SALLYPORT_TOKEN` or `--token-file`, checked already; such a token is never rotated. */
  readonly fixedToken: string | null;
  readonly clock: Clock;
  readonly digester?: TokenDigester;
  /** Called after the token changed, with the new one: whoever wrote it down writes it anew. */
  readonly onRotated: (token: string) => void;
  /** Text for the log; told once until it changes. */
  readonly onProblem: (problem: unknown) => void;
  /** How often the file is looked at while nobody uses it. */
  readonly pollMs?: number;
}

export interface MasterToken {
  readonly token: string;
  readonly lease: Lease;
  /**
   * The lease of the master principal if the digest is the one of its token, else null. Looks at the file first (one
   * `stat`): a deleted file ends the token at that moment. A promise only when the file was replaced by another.
   */
  check(digest: string): Lease | null | Promise<Lease | null>;
  /** Stops looking, and waits for a write that is under way. */
  close(): Promise<void>;
}

const allScopes: ReadonlySet<Scope> = new Set(scopes);

/** Keeps the master token in step with its file: deleting the file rotates the token while the daemon runs. */
export async function createMasterToken(options: MasterTokenOptions): Promise<MasterToken> {
  const digester = options.digester ?? createTokenDigester();
  const fixed = options.fixedToken !== null;
  const first =
    options.fixedToken === null
      ? await loadMasterToken(options.path)
      : { token: options.fixedToken, identity: null };
  let token = first.token;
  let digest = digester.digest(token);
  /** Null while our token is not on disk yet. */
  let identity: FileIdentity | null = first.identity;
  let handle = newHandle();
  let busy: Promise<void> | null = null;
  let lastProblem: string | null = null;

  function newHandle(): LeaseHandle {
    return createLease({
      principal: { kind: "master" },
      name: () => "local",
      scopes: () => allScopes,
      expiresAtMs: null,
      localOnly: true,
      now: options.clock.now,
      onListenerError: options.onProblem,
    });
  }

  function report(problem: unknown): void {
    const text = problem instanceof Error ? problem.message : String(problem);
    if (text === lastProblem) return;
    lastProblem = text;
    options.onProblem(problem);
  }

  function changeTo(newToken: string): void {
    const old = handle;
    token = newToken;
    digest = digester.digest(newToken);
    handle = newHandle();
    old.markEnded("rotated");
    old.announceEnd();
    options.onRotated(newToken);
  }

  /** One piece of file work at a time; it never rejects. */
  function run(work: () => Promise<void>): Promise<void> {
    busy ??= work()
      .catch(report)
      .finally(() => {
        busy = null;
      });
    return busy;
  }

  async function writeOwn(): Promise<void> {
    try {
      await createSecretFile(options.path, `${token}\n`);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
      // Somebody put a file there in the meantime; it is read like any other.
      await adopt();
      return;
    }
    // Deleted as soon as it appeared: that is a rotation too.
    if ((await adopt()) === "missing") changeTo(newMasterToken());
  }

  /** Another file is at the path: its token is the one from now on. A damaged one changes nothing and is reported. */
  async function adopt(): Promise<"missing" | "read"> {
    const seen = identify(options.path);
    const read = await readMasterToken(options.path);
    if (!read.ok) {
      if (read.missing) return "missing";
      identity = seen;
      report(read.error);
      return "read";
    }
    identity = read.identity;
    lastProblem = null;
    if (read.token !== token) changeTo(read.token);
    return "read";
  }

  /** Looks at the file. Resolved at once (null) if nothing has to be waited for before the token can be judged. */
  function look(): Promise<void> | null {
    if (fixed) return null;
    let found: FileIdentity | null;
    try {
      found = identify(options.path);
    } catch (error) {
      report(error);
      return null;
    }
    if (found === null) {
      if (identity !== null) {
        identity = null;
        changeTo(newMasterToken());
      }
      // Also after a failed write: tried again at each look. Nobody has to wait for it.
      void run(writeOwn);
      return null;
    }
    return sameFile(found, identity) ? null : run(async () => void (await adopt()));
  }

  const timer = fixed ? null : setInterval(look, options.pollMs ?? 250).unref();

  const judge = (presented: string): Lease | null => (digestsEqual(presented, digest) ? handle.lease : null);

  return {
    get token() {
      return token;
    },
    get lease() {
      return handle.lease;
    },
    check(presented) {
      if (!judge(presented)) return null;
      const waitFor = look();
      return waitFor ? waitFor.then(() => judge(presented)) : judge(presented);
    },
    async close() {
      if (timer) clearInterval(timer);
      await busy;
    },
  };
}
