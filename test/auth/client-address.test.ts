import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type AddressSource, clientAddress } from "../../src/auth/client-address.ts";
import { readHeaders } from "../../src/auth/read-headers.ts";
import { trustedProxies } from "../../src/auth/trusted-proxies.ts";
import { limitKey, parseIp } from "../../src/lib/ip-address.ts";

const isTrusted = trustedProxies(["127.0.0.1", "10.0.0.0/8", "fd00::/8", "::ffff:172.16.0.1"]);

function address(peer: string | null, source: AddressSource, headers: readonly string[]): string | null {
  const parsed = peer === null ? null : parseIp(peer);
  return clientAddress(
    { address: parsed, limitKey: parsed && limitKey(parsed) },
    source,
    isTrusted,
    readHeaders(headers),
  );
}

describe("clientAddress", () => {
  it.each<[string, string | null, AddressSource, string[], string | null]>([
    ["the peer", "203.0.113.9", "peer", [], "203.0.113.9"],
    ["the /64 of an IPv6 peer", "2001:db8:1:2:3::4", "peer", [], "2001:db8:1:2::/64"],
    [
      "a forged header of an untrusted peer changes nothing",
      "203.0.113.9",
      "peer",
      ["X-Forwarded-For", "8.8.8.8"],
      "203.0.113.9",
    ],
    [
      "a forged provider header changes nothing at another door",
      "203.0.113.9",
      "peer",
      ["CF-Connecting-IP", "8.8.8.8"],
      "203.0.113.9",
    ],
    [
      "behind a trusted proxy, the client",
      "10.1.1.1",
      "peer",
      ["X-Forwarded-For", "203.0.113.9"],
      "203.0.113.9",
    ],
    [
      "the right-most untrusted hop, not what the client wrote",
      "10.1.1.1",
      "peer",
      ["X-Forwarded-For", "1.1.1.1, 203.0.113.9, 10.2.2.2"],
      "203.0.113.9",
    ],
    [
      "several lines are one list",
      "10.1.1.1",
      "peer",
      ["X-Forwarded-For", "203.0.113.9", "X-Forwarded-For", "10.2.2.2"],
      "203.0.113.9",
    ],
    ["all hops trusted: the proxy itself", "10.1.1.1", "peer", ["X-Forwarded-For", "10.2.2.2"], "10.1.1.1"],
    ["garbage is ignored", "10.1.1.1", "peer", ["X-Forwarded-For", "banana"], "10.1.1.1"],
    [
      "garbage before a trusted hop is ignored",
      "10.1.1.1",
      "peer",
      ["X-Forwarded-For", "8.8.8.8, banana, 10.2.2.2"],
      "10.1.1.1",
    ],
    ["an empty header is ignored", "10.1.1.1", "peer", ["X-Forwarded-For", ""], "10.1.1.1"],
    ["a hop with a port", "10.1.1.1", "peer", ["X-Forwarded-For", "203.0.113.9:4711"], "203.0.113.9"],
    [
      "an IPv6 hop with a port",
      "10.1.1.1",
      "peer",
      ["X-Forwarded-For", "[2001:db8:1:2::9]:4711"],
      "2001:db8:1:2::/64",
    ],
    [
      "an IPv4-mapped hop is IPv4",
      "10.1.1.1",
      "peer",
      ["X-Forwarded-For", "::ffff:203.0.113.9"],
      "203.0.113.9",
    ],
    ["a raw forwarder names nobody", "192.0.2.1", "none", ["X-Forwarded-For", "8.8.8.8"], null],
    [
      "a door's own proxy that is trusted does",
      "127.0.0.1",
      "none",
      ["X-Forwarded-For", "203.0.113.9"],
      "203.0.113.9",
    ],
    ["and without the header nobody is known", "127.0.0.1", "none", [], null],
    ["a Unix socket names nobody", null, "none", ["X-Forwarded-For", "8.8.8.8"], null],
    ["cloudflared", "127.0.0.1", "cf-connecting-ip", ["CF-Connecting-IP", "203.0.113.9"], "203.0.113.9"],
    [
      "cloudflared: repeated",
      "127.0.0.1",
      "cf-connecting-ip",
      ["CF-Connecting-IP", "1.1.1.1", "CF-Connecting-IP", "2.2.2.2"],
      null,
    ],
    ["cloudflared: garbage", "127.0.0.1", "cf-connecting-ip", ["CF-Connecting-IP", "banana"], null],
    ["cloudflared: another header", "127.0.0.1", "cf-connecting-ip", ["X-Forwarded-For", "8.8.8.8"], null],
    [
      "tailscale, ngrok: the last hop",
      "127.0.0.1",
      "last-x-forwarded-for",
      ["X-Forwarded-For", "1.1.1.1, 203.0.113.9"],
      "203.0.113.9",
    ],
    ["tailscale, ngrok: none", "127.0.0.1", "last-x-forwarded-for", [], null],
  ])("%s", (_name, peer, source, headers, expected) => {
    expect(address(peer, source, headers)).toBe(expected);
  });

  it("never throws on garbage and never makes a key of it", () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 80 }), (raw) => {
        const key = address("127.0.0.1", "last-x-forwarded-for", ["X-Forwarded-For", raw]);
        return key === null || /^[0-9a-f.:]+(\/64)?$/.test(key);
      }),
    );
  });
});

describe("trustedProxies", () => {
  it.each([
    ["10.255.0.1", true],
    ["11.0.0.1", false],
    ["127.0.0.2", false],
    ["fd12::1", true],
    ["fe80::1", false],
    ["172.16.0.1", true],
  ])("%s: %s", (raw, trusted) => {
    const address = parseIp(raw);
    expect(address && isTrusted(address)).toBe(trusted);
  });

  it.each(["banana", "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/-1", "127.1", ""])(
    "takes %j for a mistake",
    (entry) => {
      expect(() => trustedProxies([entry])).toThrow(TypeError);
    },
  );
});
