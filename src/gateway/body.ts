import type { IncomingMessage } from "node:http";
import { SallyportError } from "../errors.ts";
import { limits } from "../protocol/limits.ts";
import type { HeldShare } from "./held-bytes.ts";

export interface BodyTiming {
  readonly timeoutMs: number;
  /** An authenticated body goes on as long as this much arrives in every `timeoutMs`. */
  readonly progressBytes: number;
}

const answerGraceMs = 250;

export const bodyTiming: BodyTiming = {
  timeoutMs: limits.bodyTimeoutMs,
  progressBytes: limits.bodyProgressBytes,
};

export interface ReadBodyOptions {
  readonly maxBytes: number;
  readonly authenticated: boolean;
  /** Counts what is held of it until it is read. */
  readonly share: HeldShare;
  readonly timing: BodyTiming;
}

/** True when the request announces a body (RFC 9112, section 6.3). */
export function announcesBody(request: IncomingMessage): boolean {
  const { headers } = request;
  if (headers["transfer-encoding"] !== undefined) return true;
  return headers["content-length"] !== undefined && headers["content-length"] !== "0";
}

/**
 * Refuses a body that is not plain JSON text: `unsupported_media_type` unless the type is `application/json` (parameters
 * are ignored; it is always read as UTF-8, RFC 8259, section 8.1) and no content coding is named.
 */
export function assertJsonType(request: IncomingMessage): void {
  const type = request.headers["content-type"]?.split(";", 1)[0]?.trim().toLowerCase();
  const coding = request.headers["content-encoding"]?.trim().toLowerCase() ?? "identity";
  if (type !== "application/json" || coding !== "identity")
    throw new SallyportError(
      "unsupported_media_type",
      "Send JSON with the header Content-Type: application/json, not compressed.",
    );
}

/**
 * Reads a whole body. Rejects with `too_large` (before reading, where Content-Length tells), `bad_request` when it comes
 * too slowly or breaks off, `overloaded` when all bodies together hold too much.
 */
export function readBody(request: IncomingMessage, options: ReadBodyOptions): Promise<Buffer> {
  const { maxBytes, share, timing } = options;
  return new Promise((resolve, reject) => {
    const announced = Number(request.headers["content-length"] ?? 0);
    if (announced > maxBytes) {
      reject(tooLarge(maxBytes));
      return;
    }
    // One growing buffer, not a list of chunks: a body may come in 16 million chunks of a byte.
    let held: Buffer = Buffer.alloc(0);
    let received = 0;
    let receivedBefore = 0;

    const timer = setInterval(() => {
      const arrived = received - receivedBefore;
      receivedBefore = received;
      if (options.authenticated && arrived >= timing.progressBytes) return;
      fail(new SallyportError("bad_request", "The body did not arrive in time."));
      // The answer gets a moment to leave; who is that slow is not waited for again.
      setTimeout(() => request.socket.destroy(), answerGraceMs).unref();
    }, timing.timeoutMs);

    function stop(): void {
      clearInterval(timer);
      request.off("data", onData);
      request.off("end", onEnd);
      request.off("close", onBroken);
      share.set(0);
    }
    function fail(error: SallyportError): void {
      stop();
      reject(error);
    }
    function onData(chunk: Buffer): void {
      if (received + chunk.length > maxBytes) fail(tooLarge(maxBytes));
      else if (!share.set(received + chunk.length))
        fail(
          new SallyportError("overloaded", "The daemon is reading too many large bodies; try again.", {
            retryAfterSeconds: 2,
          }),
        );
      else {
        held = append(held, received, chunk);
        received += chunk.length;
      }
    }
    function onEnd(): void {
      stop();
      resolve(held.subarray(0, received));
    }
    function onBroken(): void {
      fail(new SallyportError("bad_request", "The body broke off."));
    }

    request.on("data", onData);
    request.on("end", onEnd);
    request.on("close", onBroken);
  });
}

/** Appends to the first `used` bytes of `held`, doubling it when it is full. The first chunk is kept as it is. */
function append(held: Buffer, used: number, chunk: Buffer): Buffer {
  if (used === 0) return chunk;
  if (used + chunk.length <= held.length) {
    chunk.copy(held, used);
    return held;
  }
  const grown = Buffer.allocUnsafe(Math.max(used + chunk.length, 2 * used));
  held.copy(grown, 0, 0, used);
  chunk.copy(grown, used);
  return grown;
}

/**
 * Lets what is left of a body run out unread, so that the client can read its refusal before the connection closes; a
 * client that goes on sending for longer than `graceMs` is cut off.
 */
export function discardRest(request: IncomingMessage, graceMs: number): void {
  if (request.complete || request.destroyed) return;
  const timer = setTimeout(() => request.socket.destroy(), graceMs);
  const stop = (): void => clearTimeout(timer);
  request.once("end", stop);
  request.once("close", stop);
  request.resume();
}

function tooLarge(maxBytes: number): SallyportError {
  return new SallyportError("too_large", `A body may have ${maxBytes} bytes here.`);
}
