import { AnswerError, isRecord } from "../client/answer-error.ts";
import { createRest, type Rest } from "../client/rest.ts";
import type { HomePaths } from "../config/home-paths.ts";
import { randomSecret } from "../lib/ids.ts";
import { readProcessIdentity } from "../lib/process-identity.ts";
import { readSecretFile } from "../lib/secret-file.ts";
import { noDaemonError } from "./cli-error.ts";
import { type DaemonFile, readDaemonFile } from "./daemon-file.ts";
import { proofHolds } from "./hello-proof.ts";
import { sendOverNode } from "./node-http.ts";

const helloTimeoutMs = 5_000;
const maxTokenFileBytes = 4_096;

/** A daemon that proved to know this home's master token. */
export interface DaemonLink {
  readonly file: DaemonFile;
  readonly masterToken: string;
  readonly rest: Rest;
}

export type FoundDaemon =
  | { readonly state: "running"; readonly link: DaemonLink }
  /** `absent`: no file. `stale`: the process has ended. `damaged`, `unsafe`: the file is not believed. `silent`: no answer. `stranger`: somebody else answers. */
  | {
      readonly state: "absent" | "stale" | "damaged" | "unsafe" | "silent" | "stranger";
      /** What was found and what to do about it. Holds no secret. */
      readonly message: string;
      readonly file: DaemonFile | null;
    };

type Env = Readonly<Record<string, string | undefined>>;

/** Looks for this home's daemon. The master token is sent to nobody before the proof under it was seen. */
export async function findDaemon(paths: HomePaths, env: Env): Promise<FoundDaemon> {
  const read = await readDaemonFile(paths.daemonFile);
  if (!read.ok) return fileProblem(paths, read.problem, read.detail);
  const { file } = read;
  if ((await readProcessIdentity(file.pid)) === null)
    return {
      state: "stale",
      file,
      message: `No daemon is running: ${paths.daemonFile} is left over from one that has ended (pid ${file.pid}). Start one: sallyport daemon start`,
    };
  return askHello(paths, env, file);
}

/**
 * Asks whoever answers on a loopback port, for when `daemon.json` does not tell; null unless it proves to know this home's
 * master token.
 */
export async function findDaemonAt(
  paths: HomePaths,
  env: Env,
  at: { readonly url: string; readonly pid: number | null },
): Promise<DaemonLink | null> {
  const found = await askHello(paths, env, {
    url: at.url,
    port: Number(new URL(at.url).port),
    masterToken: "",
    pid: at.pid ?? 0,
    version: "unknown",
    instance: "",
  });
  return found.state === "running" ? found.link : null;
}

/** The daemon, or exit code 3 with the next step. */
export async function requireDaemon(paths: HomePaths, env: Env): Promise<DaemonLink> {
  const found = await findDaemon(paths, env);
  if (found.state === "running") return found.link;
  throw noDaemonError(found.message);
}

async function askHello(paths: HomePaths, env: Env, file: DaemonFile): Promise<FoundDaemon> {
  const challenge = randomSecret(24);
  const stranger: FoundDaemon = {
    state: "stranger",
    file,
    message: `What answers at ${file.url} is not the daemon of ${paths.home}: it was sent no token. Start one of your own: sallyport daemon start --port N`,
  };
  let hello: unknown;
  try {
    const anonymous = createRest({
      base: file.url,
      token: null,
      send: sendOverNode,
      timeoutMs: helloTimeoutMs,
    });
    hello = await anonymous.body("GET", `/api/hello?challenge=${challenge}`);
  } catch (error) {
    if (error instanceof AnswerError) return stranger;
    return {
      state: "silent",
      file,
      message: `Nothing answers at ${file.url}, though a process ${file.pid} runs: the daemon that wrote ${paths.daemonFile} has ended, or hangs. Start one: sallyport daemon start`,
    };
  }
  if (!isRecord(hello) || hello.app !== "sallyport") return stranger;
  for (const masterToken of await tokenCandidates(paths, env, file))
    if (proofHolds(hello.proof, masterToken, file.port, challenge))
      return {
        state: "running",
        link: {
          file,
          masterToken,
          rest: createRest({ base: file.url, token: masterToken, send: sendOverNode }),
        },
      };
  return stranger;
}

/** The daemon's token may have been rotated since it wrote its file; the proof tells which candidate is the right one. */
async function tokenCandidates(paths: HomePaths, env: Env, file: DaemonFile): Promise<readonly string[]> {
  const stored = await readSecretFile(paths.daemonToken, maxTokenFileBytes);
  const candidates = [file.masterToken, stored.ok ? stored.text.trim() : "", env.SALLYPORT_TOKEN ?? ""];
  return [...new Set(candidates)].filter((token) => token !== "");
}

function fileProblem(paths: HomePaths, problem: string, detail: string): FoundDaemon {
  const path = paths.daemonFile;
  if (problem === "missing")
    return {
      state: "absent",
      file: null,
      message: `No daemon is running for ${paths.home}. Start one: sallyport daemon start`,
    };
  if (problem === "damaged" || problem === "too_large" || problem === "not_a_file")
    return {
      state: "damaged",
      file: null,
      message: `No daemon can be found: ${path} is damaged (${detail}). Start one, which writes it anew: sallyport daemon start`,
    };
  return {
    state: "unsafe",
    file: null,
    message: `No daemon can be found: ${path} is not to be trusted (${detail}). Remove it, and start one: sallyport daemon start`,
  };
}
