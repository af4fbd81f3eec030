import { parseEndpoint } from "./endpoint.ts";
import { judgeAnswer, type PushOutcome } from "./judge-answer.ts";
import { messageTtlMs } from "./message-book.ts";
import { postOnce } from "./post.ts";
import type { StoredSubscription, VapidKeys } from "./push-file.ts";
import {
  askNameServers,
  EndpointProblem,
  type ResolveName,
  resolvePublic,
  systemResolve,
} from "./resolve-host.ts";

export interface DeliverOptions {
  /** Base of the time-outs; default 10 s for the name, and again for the request. */
  readonly timeoutMs?: number;
  readonly resolve?: ResolveName;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

export interface Parcel {
  readonly subscription: StoredSubscription;
  readonly payload: string;
  readonly urgent: boolean;
  /** Messages of one topic replace each other at the push service while the phone is off. */
  readonly topic: string;
  readonly vapid: VapidKeys;
  /** Whom a push service may write to: a `mailto:` or `https:` address (RFC 8292 §2.1). */
  readonly contact: string;
  readonly insecurePrivateEndpoints: boolean;
  readonly signal: AbortSignal;
}

const defaultTimeoutMs = 10_000;

/** Sends one push and tells what became of it. Never rejects. */
export type Deliver = (parcel: Parcel) => Promise<PushOutcome>;

/**
 * Resolves the endpoint anew for each push and connects to an address that was judged, so that no name leads inside; one
 * request, no redirect.
 */
export function createDeliver(options: DeliverOptions): Deliver {
  const { timeoutMs = defaultTimeoutMs, now } = options;

  async function attempt(parcel: Parcel): Promise<PushOutcome> {
    const { subscription, insecurePrivateEndpoints } = parcel;
    // Judged again: the setting that let it in may be gone.
    const parsed = parseEndpoint(subscription.endpoint, { insecurePrivateEndpoints });
    if (!parsed.ok) throw new EndpointProblem(parsed.refusal.message);
    const { endpoint } = parsed;
    const resolve = options.resolve ?? (insecurePrivateEndpoints ? systemResolve : askNameServers);
    const addresses = await within(
      resolvePublic(endpoint.host, resolve, insecurePrivateEndpoints),
      timeoutMs,
      () => new EndpointProblem(`${endpoint.host} cannot be resolved (it takes too long)`),
    );
    const { headers, body } = await encode(parcel);
    parcel.signal.throwIfAborted();
    const answer = await postOnce({ endpoint, addresses, headers, body, timeoutMs, signal: parcel.signal });
    return judgeAnswer(answer, now());
  }

  return async (parcel) => {
    try {
      return await attempt(parcel);
    } catch (error) {
      return { kind: "failed", problem: problemText(error), retryAfterMs: null };
    }
  };
}

/** Encrypts for the browser alone (RFC 8291) and signs for the push service (RFC 8292). The package is loaded when first needed. */
async function encode(parcel: Parcel) {
  const { default: webPush } = await import("web-push");
  const { endpoint, p256dh, auth_secret } = parcel.subscription;
  const { headers, body } = webPush.generateRequestDetails(
    { endpoint, keys: { p256dh, auth: auth_secret } },
    parcel.payload,
    {
      vapidDetails: {
        subject: parcel.contact,
        publicKey: parcel.vapid.public_key,
        privateKey: parcel.vapid.private_key_secret,
      },
      TTL: messageTtlMs / 1_000,
      urgency: parcel.urgent ? "high" : "normal",
      topic: parcel.topic,
      contentEncoding: "aes128gcm",
    },
  );
  if (body === null) throw new TypeError("a push has a payload");
  return { headers: headers as Record<string, string | number>, body };
}

function within<T>(work: Promise<T>, ms: number, late: () => Error): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(late()), ms);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/** Names the fault, never the endpoint. */
function problemText(error: unknown): string {
  if (error instanceof EndpointProblem) return error.message;
  const { code } = error as NodeJS.ErrnoException;
  return `the push service cannot be reached (${code ?? "unknown"})`;
}
