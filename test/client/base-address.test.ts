import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { codeOfLink, readBase } from "../../src/client/base-address.ts";

describe("readBase", () => {
  it.each([
    ["http://127.0.0.1:7700", "http://127.0.0.1:7700", true, false],
    ["http://127.8.9.1", "http://127.8.9.1", true, false],
    ["http://localhost:7700/", "http://localhost:7700", true, false],
    ["http://LOCALHOST.", "http://localhost.", true, false],
    ["http://[::1]:7700", "http://[::1]:7700", true, false],
    // The URL parser writes every spelling of an IPv4 address as a dotted quad (WHATWG URL, host parsing).
    ["http://2130706433", "http://127.0.0.1", true, false],
    ["https://box.example/sally/", "https://box.example/sally", false, true],
    ["https://box.example:443", "https://box.example", false, true],
    ["  https://box.example/#pair=ABCDE-FGHJK ", "https://box.example", false, true],
    ["http://box.example/?token=x", "http://box.example", false, false],
    ["http://127.evil.example:18789", "http://127.evil.example:18789", false, false],
    ["http://127.0.0.1.evil.example", "http://127.0.0.1.evil.example", false, false],
    ["http://localhost.evil.example", "http://localhost.evil.example", false, false],
    ["http://evil.example/127.0.0.1", "http://evil.example/127.0.0.1", false, false],
    ["http://[::ffff:127.0.0.1]", "http://[::ffff:7f00:1]", false, false],
  ])("reads %s", (raw, base, isLoopback, isEncrypted) => {
    expect(readBase(raw)).toEqual({ ok: true, base, isLoopback, isEncrypted });
  });

  it.each([
    "",
    " ",
    "box.example",
    "127.0.0.1:7700",
    "ftp://box.example",
    "ws://127.evil.com:18789",
    "javascript:alert(1)",
    "http://",
    "http://a b",
    "http://user:secret@box.example",
    "http://127.0.0.1@evil.example",
    `http://${"x".repeat(3_000)}.example`,
  ])("refuses %j with a hint and an example", (raw) => {
    expect(readBase(raw)).toMatchObject({ ok: false, hint: expect.stringContaining("As in: https://") });
  });

  it("never throws, and what it reads is read again as the same", () => {
    const texts = fc.oneof(fc.string(), fc.webUrl({ withFragments: true, withQueryParameters: true }));
    fc.assert(
      fc.property(texts, (raw) => {
        const read = readBase(raw);
        if (read.ok) expect(readBase(read.base)).toEqual(read);
      }),
    );
  });
});

describe("codeOfLink", () => {
  it.each([
    ["https://box.example/#pair=ABCDE-FGHJK", "ABCDE-FGHJK"],
    ["https://box.example/sally/#pair=ABCDE-FGHJK&x=1", "ABCDE-FGHJK"],
    ["https://box.example/#pair=", null],
    ["https://box.example/?pair=ABCDE-FGHJK", null],
    ["https://box.example", null],
    ["no address", null],
  ])("reads %s", (link, code) => {
    expect(codeOfLink(link)).toBe(code);
  });
});
