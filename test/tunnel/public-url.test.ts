import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isBelow, readPublicUrl, urlsIn } from "../../src/tunnel/public-url.ts";

describe("readPublicUrl", () => {
  it.each([
    ["https://x.example", "https://x.example"],
    ["HTTPS://X.Example/", "https://x.example"],
    ["https://x.example:443/", "https://x.example"],
    ["https://x.example:8443/base/", "https://x.example:8443/base"],
    ["https://127.0.0.1:8443", "https://127.0.0.1:8443"],
    ["https://[::1]:8443", "https://[::1]:8443"],
  ])("takes %j as %j", (raw, url) => {
    expect(readPublicUrl(raw, false)).toMatchObject({ ok: true, url });
  });

  it.each([
    ["http://x.example", "not_https"],
    ["https://u@x.example", "credentials"],
    ["https://x.example/?a", "query"],
    ["https://x.example/#a", "query"],
    ["https://x.example\\@evil.example", "malformed"],
    ["https://x example", "malformed"],
    ["https://", "malformed"],
    ["ftp://x.example", "malformed"],
    ["https://x.example:0", "malformed"],
    ["https://x.example:99999", "malformed"],
    ["https://x.example/%2e%2e/", "malformed"],
  ])("refuses %j: %s", (raw, problem) => {
    expect(readPublicUrl(raw, false)).toEqual({ ok: false, problem });
  });

  it("refuses one that is too long", () => {
    expect(readPublicUrl(`https://x.example/${"a".repeat(2_000)}`, false).ok).toBe(false);
  });

  it("never throws, and takes what it yields again as the same", () => {
    fc.assert(
      fc.property(fc.oneof(fc.webUrl(), fc.string()), fc.boolean(), (raw, insecure) => {
        const read = readPublicUrl(raw, insecure);
        if (read.ok) expect(readPublicUrl(read.url, insecure)).toMatchObject({ ok: true, url: read.url });
      }),
    );
  });
});

describe("urlsIn", () => {
  it("leaves out frames, punctuation and colours", () => {
    expect(urlsIn("| \u001b[1mhttps://x.example/\u001b[0m. | (https://y.example)")).toEqual([
      "https://x.example/",
      "https://y.example",
    ]);
  });
});

describe("isBelow", () => {
  it.each([
    ["a.ts.net", true],
    ["ts.net", false],
    ["evilts.net", false],
    ["a.ts.net.evil", false],
  ])("%s: %s", (host, below) => {
    expect(isBelow(host, ["ts.net"])).toBe(below);
  });
});
