import { type ServerResponse, STATUS_CODES } from "node:http";
import type { LeaseEnd } from "../auth/principal.ts";
import { type ErrorBody, errorStatus, type Refusal } from "../errors.ts";
import { closeCodes } from "../protocol/close-codes.ts";
import { apiHeaders } from "./security-headers.ts";

/** The one place where a refusal becomes bytes. Nothing of the request is in them: neither its target nor its headers. */
export interface RefusalAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** @param close the connection ends after this answer */
function refusalAnswer(refusal: Refusal, close: boolean): RefusalAnswer {
  const body = JSON.stringify(refusalBody(refusal));
  return {
    status: errorStatus[refusal.code],
    headers: {
      ...apiHeaders,
      "content-type": "application/json; charset=utf-8",
      "content-length": String(Buffer.byteLength(body)),
      ...(refusal.code === "unauthorized" ? { "www-authenticate": "Bearer" } : {}),
      ...(refusal.code === "socket_only" ? { upgrade: "websocket" } : {}),
      ...(refusal.retryAfterSeconds === undefined
        ? {}
        : { "retry-after": String(refusal.retryAfterSeconds) }),
      ...(close ? { connection: "close" } : {}),
    },
    body,
  };
}

/** The JSON shape of a refusal on REST and the native socket. Made without an Error: refusing must stay cheap. */
function refusalBody(refusal: Refusal): ErrorBody {
  return {
    type: "error",
    code: refusal.code,
    message: refusal.message,
    ...(refusal.reason === undefined ? {} : { reason: refusal.reason }),
    ...(refusal.field === undefined ? {} : { field: refusal.field }),
    ...(refusal.retryAfterSeconds === undefined ? {} : { retry_after: refusal.retryAfterSeconds }),
  };
}

/** An answer as `writeHead` takes it at the lowest price. */
interface ReadyAnswer {
  readonly status: number;
  /** Names and values in turn. */
  readonly flatHeaders: string[];
  readonly body: string;
}

const maxRemembered = 256;
const remembered = new Map<string, ReadyAnswer>();
/** Of refusals that are the same object each time, on connections that go on. */
const kept = new WeakMap<Refusal, ReadyAnswer>();

/** There are few different refusals, and floods of them: what was written once is written again. */
function readyAnswer(refusal: Refusal, close: boolean): ReadyAnswer {
  const ready = close ? undefined : kept.get(refusal);
  if (ready !== undefined) return ready;
  const made = rememberedAnswer(refusal, close);
  if (!close && Object.isFrozen(refusal)) kept.set(refusal, made);
  return made;
}

function rememberedAnswer(refusal: Refusal, close: boolean): ReadyAnswer {
  const make = (): ReadyAnswer => {
    const { status, headers, body } = refusalAnswer(refusal, close);
    return { status, flatHeaders: Object.entries(headers).flat(), body };
  };
  if (refusal.field !== undefined || refusal.reason !== undefined) return make();
  const key = `${close} ${refusal.code} ${refusal.retryAfterSeconds} ${refusal.message}`;
  let answer = remembered.get(key);
  if (answer === undefined) {
    answer = make();
    if (remembered.size < maxRemembered) remembered.set(key, answer);
  }
  return answer;
}

/** Answers in turn on a connection that the HTTP server still holds. */
export function sendRefusal(response: ServerResponse, refusal: Refusal, close: boolean): void {
  const answer = readyAnswer(refusal, close);
  response.writeHead(answer.status, answer.flatHeaders);
  response.end(answer.body);
}

/** The same answer as bytes, for a socket that the HTTP server has let go (an upgrade, CONNECT). */
export function refusalBytes(refusal: Refusal): string {
  const answer = refusalAnswer(refusal, true);
  const lines = Object.entries(answer.headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${answer.status} ${STATUS_CODES[answer.status]}\r\n${lines.join("")}\r\n${answer.body}`;
}

/** What the HTTP parser itself refused: no body, and nothing is named. */
export function parserRefusalBytes(status: 400 | 431): string {
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`;
}

export interface SocketClose {
  readonly code: number;
  /** At most 123 bytes (RFC 6455 §5.5). */
  readonly reason: string;
}

/** How an open socket ends when its lease does. `rotated` is the master token's end: the same for the one who holds it. */
export function closeForLease(end: LeaseEnd): SocketClose {
  return { code: closeCodes.revoked, reason: end };
}

/** A flood: the reason says when to come back. */
export function closeForFlood(retryAfterSeconds: number): SocketClose {
  return { code: closeCodes.flood, reason: JSON.stringify({ retry_after: retryAfterSeconds }) };
}
