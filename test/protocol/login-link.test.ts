import { describe, expect, it } from "vitest";
import { withoutLoginLink } from "../../src/protocol/login-link.ts";
import type { Remote, Tunnel } from "../../src/protocol/objects.ts";

function remoteWith(tunnel: Partial<Tunnel>): Remote {
  return {
    access: "tunnel",
    bound: ["127.0.0.1:7700"],
    addresses: [],
    tunnel: {
      provider: "command",
      state: "waiting",
      url: null,
      text: null,
      link: null,
      reason: null,
      next_try: null,
      ...tunnel,
    },
    devices: 1,
  };
}

describe("withoutLoginLink", () => {
  it.each<[string, Partial<Tunnel>]>([
    ["the link itself", { text: "Log in", link: "https://login.example/secret" }],
    ["the line of the tool that holds it", { text: "To log in, visit: https://login.example/secret" }],
    ["a code without a link", { text: "Go to login.example and enter secret" }],
    [
      "a link in what the tool said before",
      { state: "starting", text: "see https://login.example/a?k=secret" },
    ],
    ["a link in why it failed", { state: "failed", reason: "not logged in: HTTPS://login.example#secret" }],
  ])("hides %s", (_what, tunnel) => {
    expect(JSON.stringify(withoutLoginLink(remoteWith(tunnel)))).not.toContain("secret");
  });

  it("says that the tunnel waits, and who sees for what", () => {
    const { tunnel } = withoutLoginLink(remoteWith({ text: "Log in", link: "https://login.example/x" }));
    expect(tunnel).toMatchObject({ state: "waiting", link: null });
    expect(tunnel.text).toContain("admin");
  });

  it.each<[string, Partial<Tunnel>]>([
    ["its public address", { state: "up", url: "https://x.example/desk" }],
    [
      "what holds no link",
      { state: "failed", reason: "https://x.example does not answer from this machine" },
    ],
  ])("leaves %s, and makes no copy", (_what, tunnel) => {
    const remote = remoteWith(tunnel);
    expect(withoutLoginLink(remote)).toBe(remote);
  });
});
