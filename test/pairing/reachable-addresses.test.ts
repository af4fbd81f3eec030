import type { NetworkInterfaceInfo } from "node:os";
import { describe, expect, it } from "vitest";
import { type Reach, reachableAddresses } from "../../src/pairing/reachable-addresses.ts";

const v4 = (address: string): NetworkInterfaceInfo => ({
  address,
  family: "IPv4",
  netmask: "",
  mac: "",
  internal: false,
  cidr: null,
});
const v6 = (address: string): NetworkInterfaceInfo => ({ ...v4(address), family: "IPv6", scopeid: 0 });

const reach: Reach = {
  access: "on",
  doorUrls: ["https://x.example/", "https://proxy.example/base"],
  boundHosts: ["::"],
  port: 7700,
  lanScheme: "http",
  localUrl: "http://127.0.0.1:7700",
  interfaces: { eth0: [v4("192.168.1.20"), v6("fd00::20"), v6("fe80::1")], docker0: [v4("172.17.0.1")] },
};
const local = { kind: "local", address: "http://127.0.0.1:7700" };
const tunnels = [
  { kind: "tunnel", address: "https://x.example" },
  { kind: "tunnel", address: "https://proxy.example/base" },
];

describe("reachableAddresses", () => {
  it("on: tunnel first, then LAN with IPv6 in brackets, then this machine", () => {
    expect(reachableAddresses(reach)).toEqual([
      ...tunnels,
      { kind: "lan", address: "http://192.168.1.20:7700" },
      { kind: "lan", address: "http://[fd00::20]:7700" },
      local,
    ]);
  });

  it.each([
    ["off: this machine only, whatever else there is", { access: "off" }, [local]],
    ["tunnel: no LAN address", { access: "tunnel" }, [...tunnels, local]],
    [
      "bound to IPv4: no IPv6",
      { boundHosts: ["0.0.0.0"], doorUrls: [] },
      [{ kind: "lan", address: "http://192.168.1.20:7700" }, local],
    ],
    [
      "bound to one address: that one",
      { boundHosts: ["127.0.0.1", "10.0.0.5"], doorUrls: [] },
      [{ kind: "lan", address: "http://10.0.0.5:7700" }, local],
    ],
    ["bound to loopback: no LAN address", { boundHosts: ["127.0.0.1", "::1"], doorUrls: [] }, [local]],
    [
      "with TLS: https on the LAN",
      { lanScheme: "https", doorUrls: [], boundHosts: ["0.0.0.0"] },
      [{ kind: "lan", address: "https://192.168.1.20:7700" }, local],
    ],
    [
      "the same door twice: once",
      { access: "tunnel", doorUrls: ["https://x.example", "https://x.example/"] },
      [tunnels[0], local],
    ],
  ] as const)("%s", (_, changes, expected) => {
    expect(reachableAddresses({ ...reach, ...changes })).toEqual(expected);
  });

  it("lists eight LAN addresses at most", () => {
    const many = Object.fromEntries(
      Array.from({ length: 300 }, (_, index) => [
        `eth${index}`,
        [v4(`10.0.${index >> 8}.${index & 255 || 1}`)],
      ]),
    );
    expect(reachableAddresses({ ...reach, doorUrls: [], interfaces: many })).toHaveLength(9);
  });
});
