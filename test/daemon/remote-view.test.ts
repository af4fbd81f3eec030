import { describe, expect, it } from "vitest";
import {
  isLoopback,
  noTunnel,
  offerAddresses,
  type RemoteFacts,
  remoteView,
} from "../../src/daemon/remote-view.ts";

const facts: RemoteFacts = {
  access: "off",
  port: 7700,
  host: null,
  bound: ["127.0.0.1:7700"],
  hasTls: false,
  lan: [
    { interfaceName: "eth0", family: 4, address: "192.168.1.20" },
    { interfaceName: "eth0", family: 6, address: "fd00::20" },
  ],
  doorUrls: ["https://x.example", "https://box.example/base"],
  tunnel: noTunnel,
  devices: 2,
};
const addresses = (over: Partial<RemoteFacts>) =>
  remoteView({ ...facts, ...over }).addresses.map(({ kind, address }) => `${kind} ${address}`);

describe("remoteView", () => {
  it("names nothing that others could use while exposure is off", () => {
    expect(remoteView(facts)).toEqual({
      access: "off",
      bound: ["127.0.0.1:7700"],
      addresses: [],
      tunnel: noTunnel,
      devices: 2,
    });
  });

  it("names doors only, with exposure tunnel", () => {
    expect(addresses({ access: "tunnel" })).toEqual([
      "tunnel https://x.example",
      "tunnel https://box.example/base",
    ]);
  });

  it("names doors first, then the network with bracketed IPv6, with exposure on", () => {
    expect(addresses({ access: "on", doorUrls: ["https://x.example"] })).toEqual([
      "tunnel https://x.example",
      "lan http://192.168.1.20:7700",
      "lan http://[fd00::20]:7700",
    ]);
  });

  it.each([
    ["0.0.0.0", ["lan http://192.168.1.20:7700"]],
    ["192.168.1.20", ["lan http://192.168.1.20:7700"]],
    ["fd00::20", ["lan http://[fd00::20]:7700"]],
    ["box.lan", ["lan http://box.lan:7700"]],
    ["127.0.0.1", []],
    ["localhost", []],
    ["::1", []],
  ])("with host %j names what that binds", (host, expected) => {
    expect(addresses({ access: "on", doorUrls: [], host })).toEqual(expected);
  });

  it("says https where a certificate is configured", () => {
    expect(addresses({ access: "on", doorUrls: [], host: "0.0.0.0", hasTls: true })).toEqual([
      "lan https://192.168.1.20:7700",
    ]);
  });
});

describe("offerAddresses", () => {
  it("ends with this machine's own address, in plain HTTP", () => {
    expect(offerAddresses({ ...facts, hasTls: true })).toEqual([
      { kind: "local", address: "http://127.0.0.1:7700" },
    ]);
    expect(offerAddresses({ ...facts, access: "on" }).map(({ kind }) => kind)).toEqual([
      "tunnel",
      "tunnel",
      "lan",
      "lan",
      "local",
    ]);
  });
});

describe("isLoopback", () => {
  it.each([
    ["127.0.0.1", true],
    ["127.9.9.9", true],
    ["LOCALHOST.", true],
    ["::1", true],
    ["127.evil.example", false],
    ["0.0.0.0", false],
    ["192.168.1.2", false],
  ])("of %j is %s", (host, expected) => {
    expect(isLoopback(host)).toBe(expected);
  });
});
