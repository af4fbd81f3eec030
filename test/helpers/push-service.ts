import {
  createDecipheriv,
  createECDH,
  createHmac,
  createPublicKey,
  type ECDH,
  randomBytes,
  verify,
} from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";

const tls = (name: string) => fileURLToPath(new URL(`../gateway/gate/tls/${name}.pem`, import.meta.url));
/** For `NODE_EXTRA_CA_CERTS` of whoever shall trust the service: it is `localhost` and `127.0.0.1`. */
export const pushCertificatePath = tls("cert");

/** What a browser has at the service: its endpoint and its keys. */
export interface TestBrowser {
  /** As `PushSubscription.toJSON()` yields it. */
  readonly subscription: { readonly endpoint: string; readonly keys: { p256dh: string; auth: string } };
}

export interface ReceivedPush {
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Length of the encrypted body. */
  readonly bytes: number;
  /** The decrypted payload. */
  readonly payload: any;
  /** Claims of the VAPID token, whose signature was checked. */
  readonly claims: { readonly aud: string; readonly exp: number; readonly sub: string };
  /** The key that it was signed with. */
  readonly publicKey: string;
}

export interface PushService {
  readonly origin: string;
  readonly received: readonly ReceivedPush[];
  newBrowser(): TestBrowser;
  /** The next push that was not taken yet; waits for it. */
  next(): Promise<ReceivedPush>;
  /** What the next requests are answered with; default 201. */
  answerWith(answer: (request: IncomingMessage, response: ServerResponse) => void): void;
  /** Requests so far, understood or not. */
  readonly requests: number;
  close(): Promise<void>;
}

/** A push service on loopback: takes messages as RFC 8030 says, checks who sends (RFC 8292), and decrypts as the browser would (RFC 8291). */
export async function startPushService(): Promise<PushService> {
  const browsers = new Map<string, { readonly keys: ECDH; readonly auth: Buffer }>();
  const received: ReceivedPush[] = [];
  const waiting: (() => void)[] = [];
  let taken = 0;
  let requests = 0;
  let answer = (_request: IncomingMessage, response: ServerResponse): void => {
    response.writeHead(201, { location: "https://push.example/m/1" }).end();
  };
  const server = createServer({ cert: readFileSync(tls("cert")), key: readFileSync(tls("key")) });
  server.on("request", async (request: IncomingMessage, response: ServerResponse) => {
    requests += 1;
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    const path = request.url ?? "";
    const browser = browsers.get(path);
    if (!browser) {
      response.writeHead(404).end();
      return;
    }
    const { claims, publicKey } = readVapid(request.headers.authorization ?? "");
    const payload = JSON.parse(decrypt(body, browser.keys, browser.auth).toString());
    received.push({ path, headers: request.headers, bytes: body.length, payload, claims, publicKey });
    answer(request, response);
    for (const wake of waiting.splice(0)) wake();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const origin = `https://127.0.0.1:${port}`;
  return {
    origin,
    received,
    get requests() {
      return requests;
    },
    newBrowser() {
      const keys = createECDH("prime256v1");
      const p256dh = keys.generateKeys().toString("base64url");
      const auth = randomBytes(16);
      const path = `/push/${randomBytes(12).toString("base64url")}`;
      browsers.set(path, { keys, auth });
      return {
        subscription: { endpoint: `${origin}${path}`, keys: { p256dh, auth: auth.toString("base64url") } },
      };
    },
    async next() {
      while (received.length <= taken) await new Promise<void>((resolve) => waiting.push(resolve));
      const push = received[taken];
      taken += 1;
      if (!push) throw new Error("there is no such push");
      return push;
    },
    answerWith(other) {
      answer = other;
    },
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

/** Checks the signature of `Authorization: vapid t=…, k=…` (RFC 8292 §3). */
function readVapid(header: string): Pick<ReceivedPush, "claims" | "publicKey"> {
  const match = /^vapid t=([\w-]+)\.([\w-]+)\.([\w-]+), k=([\w-]+)$/.exec(header);
  if (!match) throw new Error(`no VAPID header: ${header}`);
  const [, head = "", claims = "", signature = "", publicKey = ""] = match;
  const point = Buffer.from(publicKey, "base64url");
  const key = createPublicKey({
    format: "jwk",
    key: {
      kty: "EC",
      crv: "P-256",
      x: point.subarray(1, 33).toString("base64url"),
      y: point.subarray(33).toString("base64url"),
    },
  });
  const isRight = verify(
    "sha256",
    Buffer.from(`${head}.${claims}`),
    { key, dsaEncoding: "ieee-p1363" },
    Buffer.from(signature, "base64url"),
  );
  if (!isRight) throw new Error("the VAPID token is not signed with its key");
  if (JSON.parse(Buffer.from(head, "base64url").toString()).alg !== "ES256") throw new Error("not ES256");
  return { claims: JSON.parse(Buffer.from(claims, "base64url").toString()), publicKey };
}

/** RFC 8291 §3.4 and RFC 8188 §2, for a message of one record. */
export function decrypt(body: Buffer, keys: ECDH, auth: Buffer): Buffer {
  const salt = body.subarray(0, 16);
  const idLength = body[20] ?? 0;
  const sender = body.subarray(21, 21 + idLength);
  const record = body.subarray(21 + idLength);
  const info = Buffer.concat([Buffer.from("WebPush: info\0"), keys.getPublicKey(), sender]);
  const secret = expand(extract(auth, keys.computeSecret(sender)), info, 32);
  const prk = extract(salt, secret);
  const key = expand(prk, Buffer.from("Content-Encoding: aes128gcm\0"), 16);
  const nonce = expand(prk, Buffer.from("Content-Encoding: nonce\0"), 12);
  const cipher = createDecipheriv("aes-128-gcm", key, nonce);
  cipher.setAuthTag(record.subarray(-16));
  const plain = Buffer.concat([cipher.update(record.subarray(0, -16)), cipher.final()]);
  const end = plain.lastIndexOf(2);
  return plain.subarray(0, end);
}

function extract(salt: Buffer, secret: Buffer): Buffer {
  return createHmac("sha256", salt).update(secret).digest();
}

function expand(prk: Buffer, info: Buffer, bytes: number): Buffer {
  return createHmac("sha256", prk)
    .update(info)
    .update(Buffer.from([1]))
    .digest()
    .subarray(0, bytes);
}
