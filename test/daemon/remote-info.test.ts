import { expect, it } from "vitest";
import { createRemoteInfo } from "../../src/daemon/remote-info.ts";
import type { Access, Remote } from "../../src/protocol/objects.ts";
import { noTunnel } from "../../src/tunnel/supervisor.ts";

it("announces what changed, once, and nothing when nothing did", () => {
  let access: Access = "off";
  let devices = 0;
  const bound = ["127.0.0.1:7700"];
  const told: Remote[] = [];
  const info = createRemoteInfo({
    door: { bound, port: 7700 },
    hasTls: () => false,
    access: () => access,
    doorUrls: () => ["https://x.example/"],
    tunnel: () => noTunnel,
    devices: () => devices,
    announce: (remote) => told.push(remote),
    lookMs: 60_000,
  });
  info.refresh();
  expect(told).toEqual([]);
  devices = 1;
  info.refresh();
  access = "tunnel";
  info.refresh();
  info.refresh();
  expect(told.map(({ devices: count, access: now, addresses }) => [count, now, addresses])).toEqual([
    [1, "off", []],
    [1, "tunnel", [{ kind: "tunnel", address: "https://x.example" }]],
  ]);
  expect(info.current()).toEqual(told[1]);
  expect(info.addresses().at(-1)).toEqual({ kind: "local", address: "http://127.0.0.1:7700" });
  info.close();
});
