import { describe, expect, it } from "vitest";
import { type ArrivalKind, announcesBody, checkFraming } from "../../src/auth/check-framing.ts";
import { readHeaders } from "../../src/auth/read-headers.ts";

const upgrade = [
  "Connection",
  "Upgrade",
  "Upgrade",
  "websocket",
  "Sec-WebSocket-Version",
  "13",
  "Sec-WebSocket-Key",
  "dGhlIHNhbXBsZSBub25jZQ==",
];

function verdict(kind: ArrivalKind, method: string, headers: readonly string[], version = "1.1"): string {
  return checkFraming(kind, method, version, readHeaders(headers), "main")?.code ?? "ok";
}

describe("checkFraming", () => {
  it.each<[string, ArrivalKind, string, string[], string]>([
    ["a plain GET", "request", "GET", [], "ok"],
    ["a POST with a length", "request", "POST", ["Content-Length", "12"], "ok"],
    ["a chunked POST", "request", "POST", ["Transfer-Encoding", "Chunked"], "ok"],
    ["Expect: 100-continue", "continue", "POST", ["Expect", "100-Continue", "Content-Length", "1"], "ok"],
    ["another expectation", "expectation", "POST", ["Expect", "banana"], "bad_request"],
    ["an expectation that the server did not notice", "request", "GET", ["Expect", "banana"], "bad_request"],
    [
      "two expectations",
      "continue",
      "POST",
      ["Expect", "100-continue", "Expect", "100-continue"],
      "bad_request",
    ],
    ["CONNECT", "connect", "CONNECT", [], "bad_request"],
    ["two lengths", "request", "POST", ["Content-Length", "1", "Content-Length", "1"], "bad_request"],
    [
      "length and chunked",
      "request",
      "POST",
      ["Content-Length", "1", "Transfer-Encoding", "chunked"],
      "bad_request",
    ],
    [
      "two codings",
      "request",
      "POST",
      ["Transfer-Encoding", "chunked", "Transfer-Encoding", "chunked"],
      "bad_request",
    ],
    ["gzip, chunked", "request", "POST", ["Transfer-Encoding", "gzip, chunked"], "bad_request"],
    ["a signed length", "request", "POST", ["Content-Length", "+1"], "bad_request"],
    ["a list of lengths", "request", "POST", ["Content-Length", "1, 1"], "bad_request"],
    ["a WebSocket upgrade", "upgrade", "GET", upgrade, "ok"],
    ["Upgrade: WebSocket", "upgrade", "GET", upgrade.with(3, "WebSocket"), "ok"],
    ["an upgrade with an empty body", "upgrade", "GET", [...upgrade, "Content-Length", "0"], "ok"],
    ["an upgrade with a body", "upgrade", "GET", [...upgrade, "Content-Length", "3"], "bad_request"],
    [
      "an upgrade with a chunked body",
      "upgrade",
      "GET",
      [...upgrade, "Transfer-Encoding", "chunked"],
      "bad_request",
    ],
    ["an upgrade by POST", "upgrade", "POST", upgrade, "bad_request"],
    ["h2c", "upgrade", "GET", upgrade.with(3, "h2c"), "bad_request"],
    ["websocket or h2c", "upgrade", "GET", upgrade.with(3, "websocket, h2c"), "bad_request"],
    ["two Upgrade lines", "upgrade", "GET", [...upgrade, "Upgrade", "websocket"], "bad_request"],
    ["an old version", "upgrade", "GET", upgrade.with(5, "8"), "bad_request"],
    ["a short key", "upgrade", "GET", upgrade.with(7, "abc"), "bad_request"],
    ["no key", "upgrade", "GET", upgrade.slice(0, 6), "bad_request"],
    ["two keys", "upgrade", "GET", [...upgrade, ...upgrade.slice(6)], "bad_request"],
    [
      "an upgrade with an expectation",
      "upgrade",
      "GET",
      [...upgrade, "Expect", "100-continue"],
      "bad_request",
    ],
  ])("%s", (_name, kind, method, headers, expected) => {
    expect(verdict(kind, method, headers)).toBe(expected);
  });

  it.each(["1.0", "0.9", "2.0"])("refuses HTTP/%s", (version) => {
    expect(verdict("request", "GET", [], version)).toBe("bad_request");
  });

  it("tells whether a body follows", () => {
    expect(announcesBody(readHeaders([]))).toBe(false);
    expect(announcesBody(readHeaders(["Content-Length", "00"]))).toBe(false);
    expect(announcesBody(readHeaders(["Content-Length", "1"]))).toBe(true);
    expect(announcesBody(readHeaders(["Transfer-Encoding", "chunked"]))).toBe(true);
  });
});
