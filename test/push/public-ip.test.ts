import { describe, expect, it } from "vitest";
import { parseIp } from "../../src/lib/ip-address.ts";
import { isPublicIp } from "../../src/push/public-ip.ts";

function judge(raw: string): boolean {
  const address = parseIp(raw);
  if (address === null) throw new Error(`${raw} is no address`);
  return isPublicIp(address);
}

describe("isPublicIp", () => {
  it.each([
    "1.1.1.1",
    "8.8.8.8",
    "100.63.255.255",
    "100.128.0.0",
    "172.15.255.255",
    "172.32.0.1",
    "192.0.1.1",
    "192.167.255.255",
    "192.169.0.1",
    "198.17.255.255",
    "198.20.0.1",
    "223.255.255.255",
    "142.250.185.106",
    "2a00:1450:4001:82b::200a",
    "2606:4700::6810:84e5",
    "2001:200::1",
    "2003::1",
    "2620:4f:8001::1",
    "::ffff:8.8.8.8",
    "64:ff9b::8.8.8.8",
  ])("takes %s", (raw) => {
    expect(judge(raw)).toBe(true);
  });

  it.each([
    ["0.0.0.0", "this host"],
    ["0.1.2.3", "this network"],
    ["10.0.0.1", "private"],
    ["10.255.255.255", "private"],
    ["100.64.0.0", "carrier"],
    ["100.127.255.255", "carrier"],
    ["127.0.0.1", "loopback"],
    ["127.255.255.254", "loopback"],
    ["169.254.169.254", "metadata"],
    ["172.16.0.1", "private"],
    ["172.31.255.255", "private"],
    ["192.0.0.8", "assignments"],
    ["192.0.2.1", "documentation"],
    ["192.31.196.1", "AS112"],
    ["192.52.193.1", "AMT"],
    ["192.88.99.1", "6to4 relay"],
    ["192.168.1.1", "private"],
    ["192.175.48.1", "AS112"],
    ["198.18.0.1", "benchmark"],
    ["198.19.255.255", "benchmark"],
    ["198.51.100.7", "documentation"],
    ["203.0.113.7", "documentation"],
    ["224.0.0.1", "multicast"],
    ["240.0.0.1", "reserved"],
    ["255.255.255.255", "broadcast"],
    ["::", "unspecified"],
    ["::1", "loopback"],
    ["::7f00:1", "IPv4-compatible loopback"],
    ["::8.8.8.8", "IPv4-compatible"],
    ["::ffff:127.0.0.1", "mapped loopback"],
    ["::ffff:169.254.169.254", "mapped metadata"],
    ["::ffff:0:8.8.8.8", "translated"],
    ["64:ff9b::127.0.0.1", "NAT64 of loopback"],
    ["64:ff9b::10.0.0.1", "NAT64 of private"],
    ["64:ff9b:1::8.8.8.8", "local NAT64"],
    ["100::1", "discard"],
    ["2001::1", "Teredo"],
    ["2001:2::1", "benchmark"],
    ["2001:10::1", "ORCHID"],
    ["2001:1ff::1", "assignments"],
    ["2001:db8::1", "documentation"],
    ["2002:7f00:1::1", "6to4 of loopback"],
    ["2002:808:808::1", "6to4"],
    ["2620:4f:8000::1", "AS112"],
    ["3fff::1", "documentation"],
    ["4000::1", "not assigned"],
    ["5f00::1", "segment routing"],
    ["fc00::1", "unique local"],
    ["fd12:3456::1", "unique local"],
    ["fe80::1", "link-local"],
    ["fec0::1", "site-local"],
    ["ff02::1", "multicast"],
  ])("refuses %s (%s)", (raw) => {
    expect(judge(raw)).toBe(false);
  });
});
