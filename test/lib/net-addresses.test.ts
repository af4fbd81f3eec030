import type { NetworkInterfaceInfo } from "node:os";
import { describe, expect, it } from "vitest";
import { lanAddresses, urlHost } from "../../src/lib/net-addresses.ts";

function info(address: string, internal = false): NetworkInterfaceInfo {
  const common = { address, netmask: "", mac: "02:00:00:00:00:01", internal, cidr: null };
  return address.includes(":") ? { ...common, family: "IPv6", scopeid: 0 } : { ...common, family: "IPv4" };
}

const addressesOf = (table: Record<string, readonly string[]>): string[] =>
  lanAddresses(
    Object.fromEntries(
      Object.entries(table).map(([name, list]) => [name, list.map((address) => info(address))]),
    ),
  ).map(({ address }) => address);

describe("lanAddresses", () => {
  it("keeps an address of a range reserved for other uses: if it is set, a network uses it", () => {
    expect(addressesOf({ eth0: ["192.0.2.2"] })).toEqual(["192.0.2.2"]);
  });

  it("puts wired and wireless IPv4 first, then VPNs, then IPv6", () => {
    expect(
      addressesOf({
        tailscale0: ["100.101.102.103", "fd7a:115c:a1e0::1"],
        eth0: ["2001:db8::5", "192.168.1.20"],
        tun0: ["10.8.0.2"],
        wlan0: ["10.0.0.7"],
      }),
    ).toEqual([
      "192.168.1.20",
      "10.0.0.7",
      "10.8.0.2",
      "100.101.102.103",
      "2001:db8::5",
      "fd7a:115c:a1e0::1",
    ]);
  });

  it.each([
    "lo",
    "docker0",
    "docker_gwbridge",
    "br-3fa9c210aa01",
    "veth12ab34",
    "virbr0",
    "cni0",
    "lxcbr0",
    "lxdbr0",
    "podman1",
    "vmnet8",
    "vboxnet0",
    "vEthernet (WSL)",
    "bridge100",
    "awdl0",
  ])("leaves out %s: no other machine is behind it", (name) => {
    expect(addressesOf({ [name]: ["172.17.0.1"] })).toEqual([]);
  });

  it.each(["br0", "enp3s0", "bond0", "Wi-Fi", "utun3", "wg0"])("keeps %s", (name) => {
    expect(addressesOf({ [name]: ["192.168.1.20"] })).toEqual(["192.168.1.20"]);
  });

  it.each([
    "127.0.0.2",
    "169.254.7.7",
    "0.0.0.0",
    "224.0.0.1",
    "fe80::1",
    "fe80::1%eth0",
    "::1",
    "ff02::1",
    "::",
    "",
    "junk",
  ])("leaves out the address %j", (address) => {
    expect(addressesOf({ eth0: [address] })).toEqual([]);
  });

  it("leaves out what the system calls internal, and lists an address once", () => {
    expect(
      lanAddresses({
        eth0: [info("192.168.1.20"), info("10.1.1.1", true)],
        wlan0: [info("192.168.1.20")],
        gone: undefined,
      }),
    ).toHaveLength(1);
  });

  it("keeps an IPv6-only machine reachable", () => {
    expect(lanAddresses({ eth0: [info("fd00:0:0::0a")] })).toEqual([
      { interfaceName: "eth0", family: 6, address: "fd00::a" },
    ]);
  });
});

describe("urlHost", () => {
  it("puts IPv6 into brackets and leaves IPv4 alone", () => {
    expect([urlHost("fd00::a"), urlHost("10.0.0.1")]).toEqual(["[fd00::a]", "10.0.0.1"]);
  });
});
