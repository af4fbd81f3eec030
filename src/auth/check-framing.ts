import type { Refusal } from "../errors.ts";
import type { HeaderFacts } from "./read-headers.ts";
import type { DoorKind } from "./request-class.ts";

/** How the server handed the request over. */
export type ArrivalKind = "request" | "upgrade" | "connect" | "continue" | "expectation";

/** By the kind of door: nginx spoke HTTP/1.0 to what is behind it before its version 1.29.7, unless it was told otherwise. */
export const notHttp11: Readonly<Record<DoorKind, Refusal>> = {
  main: {
    code: "bad_request",
    message:
      "Use HTTP/1.1. Where a proxy sent this: it stands before the main door, where everybody behind it can look local. Give it a [[door]] of its own (docs/remote-access.md).",
  },
  forwarder: { code: "bad_request", message: "Use HTTP/1.1. In nginx: proxy_http_version 1.1;" },
};
const connect: Refusal = {
  code: "bad_request",
  message: "This is no proxy: CONNECT is refused. Point the proxy setting of your client elsewhere.",
};
const expectation: Refusal = {
  code: "bad_request",
  message: "Only `Expect: 100-continue` is understood. Send the request without it.",
};
const ambiguousBody: Refusal = {
  code: "bad_request",
  message: "The length of the body is ambiguous. Send one Content-Length, or `Transfer-Encoding: chunked`.",
};
const badUpgrade: Refusal = {
  code: "bad_request",
  message: "An upgrade must be exactly `websocket`, version 13, by GET without a body.",
};

/** True when a body follows, or may follow, the header. */
export function announcesBody(facts: HeaderFacts): boolean {
  return facts.transferEncodingLines > 0 || (facts.contentLengthLines > 0 && !isZero(facts.rawContentLength));
}

/**
 * How a request is framed: HTTP/1.1, no CONNECT, no expectation but 100-continue, one way to tell the body's length
 * (RFC 9112 §6.3), and an upgrade only as RFC 6455 §4.1 writes it. The parser refuses some of these itself; the table
 * does not rely on it.
 */
export function checkFraming(
  kind: ArrivalKind,
  method: string,
  httpVersion: string,
  facts: HeaderFacts,
  door: DoorKind,
): Refusal | null {
  if (httpVersion !== "1.1") return notHttp11[door];
  if (kind === "connect" || method === "CONNECT") return connect;
  if (kind === "expectation") return expectation;
  if (facts.expectLines > 1 || (facts.expectLines === 1 && facts.rawExpect.toLowerCase() !== "100-continue"))
    return expectation;
  if (facts.transferEncodingLines > 0) {
    if (facts.transferEncodingLines > 1 || facts.contentLengthLines > 0) return ambiguousBody;
    if (facts.rawTransferEncoding.toLowerCase() !== "chunked") return ambiguousBody;
  }
  if (facts.contentLengthLines > 1) return ambiguousBody;
  if (facts.contentLengthLines === 1 && !/^\d{1,15}$/.test(facts.rawContentLength)) return ambiguousBody;
  return kind === "upgrade" ? checkUpgrade(method, facts) : null;
}

function checkUpgrade(method: string, facts: HeaderFacts): Refusal | null {
  const exact =
    method === "GET" &&
    facts.upgradeLines === 1 &&
    facts.rawUpgrade.toLowerCase() === "websocket" &&
    !announcesBody(facts) &&
    facts.expectLines === 0 &&
    facts.webSocketVersionLines === 1 &&
    facts.rawWebSocketVersion === "13" &&
    facts.webSocketKeyLines === 1 &&
    /^[A-Za-z0-9+/]{22}==$/.test(facts.rawWebSocketKey);
  return exact ? null : badUpgrade;
}

function isZero(rawLength: string): boolean {
  return /^0+$/.test(rawLength);
}
