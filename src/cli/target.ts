import { AnswerError, UnreachableError } from "../client/answer-error.ts";
import type { OpenSocketAt } from "../client/connection.ts";
import { createRest, type Rest } from "../client/rest.ts";
import { CliError, exitCodes, noDaemonError } from "./cli-error.ts";
import type { Call } from "./command.ts";
import { type DaemonLink, requireDaemon } from "./find-daemon.ts";
import { sendOverNode } from "./node-http.ts";
import { nodeSocketOpener } from "./node-socket.ts";
import type { KnownRemote } from "./remotes/remote-file.ts";
import { findRemote } from "./remotes/remote-store.ts";

/** The daemon that a command is for: this home's own, or one elsewhere (`-C NAME`). */
export interface Target {
  /** Base address without a trailing slash. */
  readonly url: string;
  readonly rest: Rest;
  readonly open: OpenSocketAt;
  /** This home's own daemon; null for one elsewhere, whose files and processes are not here. */
  readonly local: DaemonLink | null;
  /** The same without words of ours: refusals as they came. */
  readonly raw: { readonly open: OpenSocketAt; readonly rest: Rest };
}

/** Finds the daemon, or fails with what is wrong and the next step. */
export async function requireTarget(call: Call): Promise<Target> {
  if (call.remote !== null) return remoteTarget(await findRemote(call.paths, call.remote));
  const link = await requireDaemon(call.paths, call.io.env);
  const raw = { rest: link.rest, open: nodeSocketOpener(link.file.url, link.masterToken) };
  return { url: link.file.url, ...raw, local: link, raw };
}

/** A paired daemon. Its token goes to its base and nowhere else; what it refuses is said in its name. */
export function remoteTarget(remote: KnownRemote): Target {
  const { base, token } = remote;
  const rest = createRest({ base, token, send: sendOverNode });
  const open = nodeSocketOpener(base, token);
  return {
    url: base,
    local: null,
    raw: { rest, open },
    open: (path, handlers) => explained(remote, () => open(path, handlers)),
    rest: {
      base,
      request: (method, path, body) => explained(remote, () => rest.request(method, path, body)),
      body: (method, path, body) => explained(remote, () => rest.body(method, path, body)),
    },
  };
}

async function explained<T>(remote: KnownRemote, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw explainRemote(remote, error);
  }
}

/** What a failure means for somebody at another machine than the daemon's. */
function explainRemote(remote: Pick<KnownRemote, "name" | "base">, error: unknown): unknown {
  const { name, base } = remote;
  if (error instanceof UnreachableError)
    return noDaemonError(
      `${name} cannot be reached: ${error.message} Is it on, and is its address still ${base}? There: sallyport remote status`,
    );
  if (!(error instanceof AnswerError)) return error;
  const refused = (message: string): CliError =>
    new CliError(exitCodes.notAllowed, error.status === 401 ? "unauthorized" : "remote_off", message);
  if (error.status === 401)
    return refused(
      `${name} does not know this machine any more: its pairing was revoked or has expired. Pair again: sallyport connect add ${name} ${base} --replace`,
    );
  if (error.body.code === "remote_off")
    return refused(`${name} lets nobody in from elsewhere. On its machine run: sallyport remote on`);
  return error;
}

/**
 * The same daemon for a client that comes back by itself. This home's own is looked for anew each time, and proves itself
 * before it is sent a token: after a restart somebody else may have its port.
 */
export function lastingTarget(
  call: Call,
  first: Target,
): Pick<Target, "open"> & { readonly rest: Pick<Rest, "request"> } {
  if (first.local === null) {
    // Its refusals as they came: the client decides by their status.
    return first.raw;
  }
  const find = () => requireDaemon(call.paths, call.io.env);
  return {
    async open(path, handlers) {
      const link = await find();
      return nodeSocketOpener(link.file.url, link.masterToken)(path, handlers);
    },
    rest: { request: async (method, path, body) => (await find()).rest.request(method, path, body) },
  };
}
