import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { isIP } from "node:net";
import { networkInterfaces } from "node:os";
import { notHttp11 } from "../../auth/check-framing.ts";
import type { Config } from "../../config/config.ts";
import type { HomePaths } from "../../config/home-paths.ts";
import { randomSecret } from "../../lib/ids.ts";
import { lanAddresses, urlHost } from "../../lib/net-addresses.ts";
import type { Remote } from "../../protocol/objects.ts";
import { findDaemon } from "../find-daemon.ts";
import { proofHolds } from "../hello-proof.ts";
import { type Finding, fail, ok } from "./finding.ts";
import { type Listener, listenersHere } from "./listeners.ts";

const timeoutMs = 1_500;
const maxAnswerLength = 4_096;
const maxListeners = 128;
const maxNames = 4;
const atOnce = 32;

/** One way in that might lead to the main door. */
interface Way extends Listener {
  readonly scheme: "http" | "https";
}

/**
 * Does a way in of this machine lead to the main door, where a forwarder makes everybody look local? Every web server here
 * is asked with a challenge, and so are the addresses that are ours: only the local class gets a proof, and only the main
 * door has it. The challenge is no secret, and no token is sent.
 */
export async function checkMainDoor(
  paths: HomePaths,
  env: Readonly<Record<string, string | undefined>>,
  config: Config | null,
): Promise<readonly Finding[]> {
  const found = await findDaemon(paths, env);
  if (found.state !== "running") return [];
  const { link } = found;
  // A daemon that does not answer this is another check's finding; its addresses are then left out.
  const remote = await link.rest.body<Remote>("GET", "/api/remote").catch(() => null);
  const ours = [
    ...(remote?.addresses ?? []).map(({ address }) => address),
    ...(config?.doors ?? []).map(({ url }) => url),
  ].flatMap((address) => (URL.canParse(address) ? [new URL(address)] : []));
  const names = new Set(["localhost", ...(config?.hosts ?? []), ...ours.map(({ hostname }) => hostname)]);
  const queue = [...waysHere(await listenersHere(), link.file.port), ...ours.map(wayOf)];
  const challenge = randomSecret(24);
  const isOurs = (rawProof: unknown): boolean =>
    proofHolds(rawProof, link.masterToken, link.file.port, challenge);
  const reached = new Set<string>();
  const worker = async (): Promise<void> => {
    for (let way = queue.pop(); way; way = queue.pop())
      if (await leadsToMainDoor(way, { names: [...names].slice(0, maxNames), challenge, isOurs }))
        reached.add(`${way.scheme}://${urlHost(way.host)}:${way.port}`);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  if (reached.size === 0)
    return [ok("doors", "no address of this machine leads to the main door as if from here")];
  return [
    fail(
      "doors",
      `Through ${[...reached].sort().join(", ")} everybody reaches the main door and can look local`,
      'Point the proxy or forwarder there at a [[door]] of its own (docs/remote-access.md, "A proxy on this machine")',
    ),
  ];
}

function waysHere(listeners: readonly Listener[], mainPort: number): readonly Way[] {
  const lan = lanAddresses(networkInterfaces()).map(({ address }) => ({ host: address, port: mainPort }));
  const isMainDoor = ({ host, port }: Listener): boolean =>
    port === mainPort && (host === "::1" || host.startsWith("127."));
  return [...listeners.slice(0, maxListeners), ...lan]
    .filter((listener) => !isMainDoor(listener))
    .flatMap((listener) => (["http", "https"] as const).map((scheme) => ({ ...listener, scheme })));
}

function wayOf(url: URL): Way {
  const scheme = url.protocol === "https:" ? "https" : "http";
  const port = url.port === "" ? (scheme === "https" ? 443 : 80) : Number(url.port);
  return { host: url.hostname.replace(/^\[(.*)\]$/, "$1"), port, scheme };
}

interface Question {
  readonly names: readonly string[];
  readonly challenge: string;
  /** Another daemon's main door is no business of ours. */
  readonly isOurs: (rawProof: unknown) => boolean;
}

/** A web server may hand on by name, so each of ours is tried. */
async function leadsToMainDoor(way: Way, { names, challenge, isOurs }: Question): Promise<boolean> {
  for (const name of names) {
    const text = await ask(way, name, challenge);
    // Nobody is there who speaks this, whatever the name.
    if (text === null) return false;
    if (isOurs(/"proof":"([^"]+)"/.exec(text)?.[1])) return true;
    // A proxy that speaks HTTP/1.0 gets no proof, but the main door says that it is one.
    if (text.includes(JSON.stringify(notHttp11.main.message))) return true;
  }
  return false;
}

/** The answer's text as far as it came; null when there is none. */
function ask({ scheme, host, port }: Way, name: string, challenge: string): Promise<string | null> {
  return new Promise((resolve) => {
    let text = "";
    const outgoing = (scheme === "https" ? httpsRequest : httpRequest)({
      host,
      port,
      path: `/api/hello?challenge=${challenge}`,
      headers: { host: name },
      agent: false,
      signal: AbortSignal.timeout(timeoutMs),
      // Nothing secret goes there: it only matters who answers.
      ...(scheme === "https" ? { rejectUnauthorized: false } : {}),
      ...(scheme === "https" && isIP(name) === 0 ? { servername: name } : {}),
    });
    outgoing.on("error", () => resolve(null));
    outgoing.on("response", (response) => {
      response.on("data", (chunk: Buffer) => {
        text += chunk.toString("latin1");
        if (text.length > maxAnswerLength) response.destroy();
      });
      // Cut off: what came is judged.
      response.on("error", () => undefined);
      response.on("close", () => resolve(text));
    });
    outgoing.end();
  });
}
