import type { RequestOptions } from "node:http";
import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { isIP } from "node:net";
import { rootCertificates } from "node:tls";
import { randomSecret } from "../lib/ids.ts";

export interface ProbeTarget {
  /** The public base. */
  readonly url: string;
  /** The door at which the id must arrive. */
  readonly door: string;
  /** `host:port` to dial instead; Host and server name stay those of the address. */
  readonly probeAddress: string | null;
  /** PEM of an authority to trust beside the usual ones. */
  readonly ca: string | null;
}

export type ProbeResult = { readonly ok: true } | { readonly ok: false; readonly reason: string };

export interface Prober {
  /** Sends a one-use id through the public address and says whether it arrived at the door. Never rejects. */
  probe(target: ProbeTarget, signal: AbortSignal): Promise<ProbeResult>;
  /** A request with an id came in by a door. Costs nothing for ids that nobody waits for. */
  noteArrival(door: string, rawId: string): void;
}

type Answer = { readonly status: number } | { readonly code: string; readonly message: string };

/** @param timeoutMs for one whole request */
export function createProber(timeoutMs: number): Prober {
  /** Ids on their way, with the door that each arrived at. */
  const waiting = new Map<string, string | null>();

  return {
    noteArrival(door, rawId) {
      if (waiting.get(rawId) === null) waiting.set(rawId, door);
    },
    async probe(target, signal) {
      if (target.probeAddress !== null && splitAddress(target.probeAddress) === null)
        return { ok: false, reason: "tunnel.probe_address in config.toml must be like 127.0.0.1:8443." };
      const id = randomSecret(24);
      waiting.set(id, null);
      try {
        const answer = await ask(target, id, AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]));
        return verdict(target, waiting.get(id) ?? null, answer);
      } finally {
        waiting.delete(id);
      }
    },
  };
}

function ask(target: ProbeTarget, id: string, signal: AbortSignal): Promise<Answer> {
  const url = new URL(target.url);
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
  const dial = target.probeAddress === null ? null : splitAddress(target.probeAddress);
  const isTls = url.protocol === "https:";
  const options: RequestOptions & { servername?: string; ca?: string[] } = {
    host: dial?.host ?? host,
    port: dial?.port ?? (url.port === "" ? (isTls ? 443 : 80) : Number(url.port)),
    path: `${url.pathname.replace(/\/+$/, "")}/api/hello?probe=${id}`,
    method: "GET",
    headers: { host: url.host, "user-agent": "sallyport-probe", "cache-control": "no-store" },
    agent: false,
    signal,
    // A server name is a name, never an address (RFC 6066).
    ...(isTls && isIP(host) === 0 ? { servername: host } : {}),
    ...(isTls && target.ca !== null ? { ca: [...rootCertificates, target.ca] } : {}),
  };
  return new Promise((resolve) => {
    const outgoing = (isTls ? httpsRequest : httpRequest)(options);
    outgoing.once("response", (response) => {
      response.destroy();
      resolve({ status: response.statusCode ?? 0 });
    });
    outgoing.once("error", (error: NodeJS.ErrnoException) =>
      resolve({
        code: error.name === "AbortError" || error.name === "TimeoutError" ? "ETIMEDOUT" : (error.code ?? ""),
        message: error.message,
      }),
    );
    outgoing.end();
  });
}

function verdict(target: ProbeTarget, arrivedAt: string | null, answer: Answer): ProbeResult {
  const { url } = target;
  if (arrivedAt === target.door)
    return "status" in answer && answer.status === 200
      ? { ok: true }
      : {
          ok: false,
          reason: `${url} leads here, but the answer does not come back (${answerText(answer)}).`,
        };
  if (arrivedAt !== null)
    return {
      ok: false,
      reason: `${url} leads to the door ${arrivedAt} of this daemon, not to the tunnel's own.`,
    };
  if ("status" in answer) return { ok: false, reason: strangerText(url, answer.status) };
  return { ok: false, reason: networkText(url, answer) };
}

const captiveHint = "If this network shows a page of its own first (a captive network), log in there.";

function strangerText(url: string, status: number): string {
  if (status >= 500)
    return `${url} answers ${status}: what stands there finds nothing behind it that leads to this daemon.`;
  if (status >= 300 && status < 400)
    return `${url} answers with a redirect (${status}) instead of this daemon. ${captiveHint}`;
  return `${url} is answered by somebody else (HTTP ${status}), not by this daemon. ${captiveHint}`;
}

function networkText(url: string, { code, message }: { code: string; message: string }): string {
  const name = new URL(url).hostname;
  if (code === "ENOTFOUND" || code === "EAI_AGAIN")
    return `This machine cannot resolve ${name}: the name is too new, or the DNS here is another than outside. If others can, say where to dial with tunnel.probe_address.`;
  if (/CERT|SELF_SIGNED|UNABLE_TO|ERR_TLS|ERR_SSL/.test(code))
    return `The certificate of ${url} is not trusted here (${code}). A private authority is named with tunnel.probe_ca; on a captive network, log in first.`;
  if (code === "ETIMEDOUT")
    return `${url} does not answer from this machine. Where outside can reach it but this machine cannot, set tunnel.probe_address.`;
  return `${url} cannot be reached from this machine (${code || message}).`;
}

function answerText(answer: Answer): string {
  return "status" in answer ? `HTTP ${answer.status}` : answer.code || answer.message;
}

/** `127.0.0.1:8443`, `[::1]:8443`, or without a port: the address's own. Null when it is neither. */
export function splitAddress(raw: string): { readonly host: string; readonly port: number | null } | null {
  const found = /^(?:\[([0-9A-Fa-f:]+)\]|([^:[\]/\s]+))(?::(\d{1,5}))?$/.exec(raw);
  const host = found?.[1] ?? found?.[2];
  if (host === undefined) return null;
  if (found?.[3] === undefined) return { host, port: null };
  const port = Number(found[3]);
  return port >= 1 && port <= 65_535 ? { host, port } : null;
}
