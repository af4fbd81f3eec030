import { describe, expect, it } from "vitest";
import { checkHeaderLimits } from "../../src/auth/check-header-limits.ts";
import { connectionNamesForwarding, isForwardingHeader } from "../../src/auth/forwarding-evidence.ts";
import { readHeaders } from "../../src/auth/read-headers.ts";

const evidence = [
  "Forwarded",
  "X-Forwarded-For",
  "X-Forwarded-Host",
  "X-Forwarded-Proto",
  "X-Forwarded",
  "X-Forwarded-Client-Cert",
  "X-Real-IP",
  "CF-Connecting-IP",
  "CF-Ray",
  "CF-Visitor",
  "cf-ew-via",
  "CDN-Loop",
  "True-Client-IP",
  "X-Client-IP",
  "X-Cluster-Client-IP",
  "X-Envoy-External-Address",
  "X-Amzn-Trace-Id",
  "X-Azure-ClientIP",
  "X-Azure-FDID",
  "X-Appengine-User-IP",
  "Fastly-Client-IP",
  "Fly-Client-IP",
  "Fly-Region",
  "Ngrok-Auth-User-Email",
  "Tailscale-User-Login",
  "Via",
  "X-Original-Forwarded-For",
  "X-Original-URL",
];

describe("isForwardingHeader", () => {
  it.each(evidence)("takes %s as evidence, in any case and with underscores", (name) => {
    for (const spelling of [name, name.toLowerCase(), name.toUpperCase(), name.replaceAll("-", "_")]) {
      expect(isForwardingHeader(spelling)).toBe(true);
      expect(readHeaders(["Host", "localhost", spelling, ""]).forwarded).toBe(true);
      expect(connectionNamesForwarding(`keep-alive, ${spelling}`)).toBe(true);
    }
  });

  it.each([
    "Host",
    "Connection",
    "Cookie",
    "Content-Type",
    "Cache-Control",
    "X-Requested-With",
    "X-Frame",
    "Fetch",
    "From",
    "TE",
    "Traceparent",
    "Viable",
    "CFO",
    "Range",
    "Origin",
    "Expect",
    "Upgrade",
    "User-Agent",
  ])("does not take %s as evidence", (name) => {
    expect(isForwardingHeader(name)).toBe(false);
    expect(readHeaders([name, "x"]).forwarded).toBe(false);
  });

  it("reads a Connection header that asks a proxy to strip the evidence as evidence (CVE-2024-45410)", () => {
    expect(readHeaders(["Connection", "close, X-Forwarded-For"]).forwarded).toBe(true);
    expect(readHeaders(["connection", "x_forwarded_host"]).forwarded).toBe(true);
    expect(readHeaders(["Connection", "keep-alive, Upgrade"]).forwarded).toBe(false);
  });
});

describe("readHeaders", () => {
  it("counts repeated lines in any spelling of the name", () => {
    const facts = readHeaders([
      "host",
      "a",
      "HOST",
      "b",
      "Origin",
      "c",
      "origin",
      "d",
      "AUTHORIZATION",
      "e",
      "authorization",
      "f",
    ]);
    expect(facts).toMatchObject({ lines: 6, hostLines: 2, originLines: 2, authorizationLines: 2 });
  });

  it("sees a cross-site request on any of several Sec-Fetch-Site lines", () => {
    expect(readHeaders(["Sec-Fetch-Site", "none", "sec-fetch-site", "Cross-Site"]).crossSite).toBe(true);
    expect(readHeaders(["Sec-Fetch-Site", "same-origin"]).crossSite).toBe(false);
  });

  it("joins X-Forwarded-For lines in their order", () => {
    expect(
      readHeaders(["X-Forwarded-For", "1.1.1.1", "x-forwarded-for", "2.2.2.2, 3.3.3.3"]).rawForwardedFor,
    ).toBe("1.1.1.1,2.2.2.2, 3.3.3.3");
  });
});

describe("checkHeaderLimits", () => {
  const lines = (count: number): string[] =>
    Array.from({ length: count * 2 }, (_, at) => (at % 2 === 0 ? `x${at}` : ""));

  it.each([
    [100, null],
    [101, "too_many_headers"],
    [1_500, "too_many_headers"],
  ])("answers %i lines with %s", (count, code) => {
    expect(checkHeaderLimits(readHeaders(lines(count)))?.code ?? null).toBe(code);
  });

  it.each([
    [16_384, null],
    [16_385, "too_many_headers"],
  ])("answers a block of %i bytes with %s", (bytes, code) => {
    expect(checkHeaderLimits(readHeaders(["x", "y".repeat(bytes - 5)]))?.code ?? null).toBe(code);
  });
});
