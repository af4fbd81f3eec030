import { describe, expect, it } from "vitest";
import { remoteView } from "../../src/daemon/remote-view.ts";
import { noTunnel } from "../../src/tunnel/supervisor.ts";

describe("remoteView", () => {
  it("names the addresses that others can use, and not this machine's own", () => {
    expect(
      remoteView({
        access: "on",
        bound: ["0.0.0.0:7700"],
        reachable: [
          { kind: "tunnel", address: "https://x.example" },
          { kind: "lan", address: "http://192.168.1.20:7700" },
          { kind: "local", address: "http://127.0.0.1:7700" },
        ],
        tunnel: noTunnel,
        devices: 2,
      }),
    ).toEqual({
      access: "on",
      bound: ["0.0.0.0:7700"],
      addresses: [
        { kind: "tunnel", address: "https://x.example" },
        { kind: "lan", address: "http://192.168.1.20:7700" },
      ],
      tunnel: {
        provider: null,
        state: "off",
        url: null,
        text: null,
        link: null,
        reason: null,
        next_try: null,
      },
      devices: 2,
    });
  });
});
