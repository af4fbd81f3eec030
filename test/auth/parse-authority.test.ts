import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseAuthority } from "../../src/auth/parse-authority.ts";

describe("parseAuthority", () => {
  it.each([
    "localhost",
    "LOCALHOST:7777",
    "LocalHost.",
    "localhost.:1",
    "127.0.0.1",
    "127.0.0.2:80",
    "127.255.255.254",
    "[::1]",
    "[::1]:7700",
    "[0:0:0:0:0:0:0:1]",
    "[::0001]:65535",
    "[::0.0.0.1]",
  ])("reads %s as loopback", (raw) => {
    expect(parseAuthority(raw)?.loopback).toBe(true);
  });

  it.each([
    "127.1",
    "0x7f.1",
    "2130706433",
    "127.000.0.1",
    "127.0.0.1.",
    "0177.0.0.1",
    "127.evil.com",
    "localhost.evil.com",
    "evil.localhost",
    "localhost.localdomain",
    "0.0.0.0",
    "[::]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "box",
    "my_box-2.lan",
    "xn--bcher-kva.example",
  ])("reads %s as a host that is not loopback", (raw) => {
    expect(parseAuthority(raw)?.loopback).toBe(false);
  });

  it.each([
    "",
    ".",
    "..",
    "localhost..",
    ".localhost",
    "a..b",
    ":80",
    "localhost:",
    "localhost:0",
    "localhost:65536",
    "localhost:123456",
    "localhost:80a",
    "localhost:+80",
    "localhost: 80",
    "localhost:80:80",
    "::1",
    "[::1",
    "::1]",
    "[::1]evil.com",
    "[::1].",
    "[::1]:",
    "[::1%lo]",
    "[::1%25lo]",
    "[127.0.0.1]",
    "[localhost]",
    "[]",
    "[v1.a]",
    "user@localhost",
    "localhost/",
    "localhost?x",
    "localhost#x",
    "localhost,evil.com",
    "local host",
    " localhost",
    "localhost\t",
    "http://localhost",
    "löcalhost",
    "localhost\u0000",
    "localhost%2e",
    "*",
    "a".repeat(64),
    `${"a.".repeat(127)}a`,
  ])("reads nothing in %j", (raw) => {
    expect(parseAuthority(raw)).toBeNull();
  });

  it("gives one spelling to one host", () => {
    expect(parseAuthority("Box.Example.:443")).toEqual({
      kind: "name",
      host: "box.example",
      port: 443,
      loopback: false,
    });
    expect(parseAuthority("[2001:DB8::1]")?.host).toBe(parseAuthority("[2001:db8:0:0::0001]:80")?.host);
  });

  it("never throws, and never reads two hosts out of one text", () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 300 }), (raw) => {
        const authority = parseAuthority(raw);
        return authority === null || (!/[\s/@,?#\\]/.test(raw) && authority.host !== "");
      }),
    );
  });
});
