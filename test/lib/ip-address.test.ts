import { isIPv4, isIPv6 } from "node:net";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  ipKey,
  isLoopbackIp,
  limitKey,
  parseIp,
  parseIpv4,
  parseIpv6,
  parsePeerAddress,
} from "../../src/lib/ip-address.ts";

describe("parseIpv4", () => {
  it.each([
    "127.1",
    "0x7f.0.0.1",
    "2130706433",
    "127.000.0.1",
    "127.0.0.01",
    "1.2.3.4.",
    ".1.2.3",
    "1..2.3",
    "256.1.1.1",
    "1.2.3",
    "1.2.3.4.5",
    "١.2.3.4",
    "",
    " 1.2.3.4",
  ])("reads no address in %j", (raw) => {
    expect(parseIpv4(raw)).toBeNull();
  });

  it("agrees with the system's parser on any text of digits and dots", () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[0-9.]{0,16}$/), (raw) => (parseIpv4(raw) !== null) === isIPv4(raw)),
    );
    fc.assert(fc.property(fc.ipV4(), (raw) => ipKey(parseIpv4(raw) ?? { family: 6, bytes: [] }) === raw));
  });
});

describe("parseIpv6", () => {
  it.each([
    "::1",
    "0:0:0:0:0:0:0:1",
    "::0001",
    "0::1",
    "::0.0.0.1",
    "0000:0000:0000:0000:0000:0000:0000:0001",
  ])("reads %s as loopback", (raw) => {
    const address = parseIpv6(raw);
    expect(address && isLoopbackIp(address)).toBe(true);
  });

  it.each(["::ffff:127.0.0.1", "::ffff:7f00:1", "::", "::2", "1::1", "fe80::1", "::1:0"])(
    "reads %s as an address that is not loopback",
    (raw) => {
      const address = parseIpv6(raw);
      expect(address && isLoopbackIp(address)).toBe(false);
    },
  );

  it.each([
    "::1%lo",
    "1::2::3",
    "::127.1",
    "::ffff:0177.0.0.1",
    "00001::",
    ":1::",
    "1:2:3:4:5:6:7:8::",
    "1:2:3:4:5:6:7",
    "::g",
    ":::",
    ":",
    "1.2.3.4::",
  ])("reads no address in %s", (raw) => {
    expect(parseIpv6(raw)).toBeNull();
  });

  it("agrees with the system's parser on any text of hex digits, colons and dots", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.ipV6(),
          fc.stringMatching(/^[0-9a-f:.]{0,24}$/),
          fc.stringMatching(/^([0-9a-f]{0,2}:){2,8}[0-9.]{0,9}$/),
        ),
        (raw) => (parseIpv6(raw) !== null) === isIPv6(raw),
      ),
      { numRuns: 2_000 },
    );
  });
});

describe("parsePeerAddress", () => {
  it.each([
    ["127.0.0.1", true],
    ["127.255.3.9", true],
    ["::1", true],
    ["::ffff:127.0.0.1", true],
    ["::ffff:7f00:1", true],
    ["::ffff:10.0.0.1", false],
    ["192.168.1.5", false],
    ["fe80::1%eth0", false],
  ])("says of the peer %s that loopback is %s", (raw, loopback) => {
    const address = parsePeerAddress(raw);
    expect(address && isLoopbackIp(address)).toBe(loopback);
  });

  it("knows no address of a peer that is gone", () => {
    expect(parsePeerAddress(undefined)).toBeNull();
  });
});

describe("limitKey", () => {
  it.each([
    ["10.1.2.3", "10.1.2.3"],
    ["127.9.9.9", "127.0.0.1"],
    ["::1", "::1"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
    ["2001:db8:1:2::", "2001:db8:1:2::/64"],
    ["2001:0db8:0001:0003::1", "2001:db8:1:3::/64"],
  ])("counts %s under %s", (raw, key) => {
    const address = parseIp(raw);
    expect(address && limitKey(address)).toBe(key);
  });
});
