import { describe, expect, it } from "vitest";
import { providers } from "../../../src/tunnel/registry.ts";
import { missingField, tunnelProviders, tunnelRequest } from "../../../web/remote/tunnel-fields.ts";

function provider(name: string) {
  const found = tunnelProviders.find((one) => one.name === name);
  if (found === undefined) throw new Error(`no provider ${name}`);
  return found;
}

describe("the form for a tunnel", () => {
  it("offers every provider that the daemon has, and no other", () => {
    expect(tunnelProviders.map(({ name }) => name)).toEqual(providers.map(({ name }) => name));
  });
  it("sends what was filled in, with numbers and flags as such", () => {
    expect(
      tunnelRequest(provider("ssh"), { host: " me@box ", remote_port: "9000", url: "https://x.example" }),
    ).toEqual({ provider: "ssh", host: "me@box", remote_port: 9000, url: "https://x.example" });
    expect(tunnelRequest(provider("tailscale"), { funnel: "true" })).toEqual({
      provider: "tailscale",
      funnel: true,
    });
    expect(tunnelRequest(provider("cloudflared"), { hostname: "", token: "  " })).toEqual({
      provider: "cloudflared",
    });
  });
  it("leaves a number that is none to the daemon, which names the field", () => {
    expect(tunnelRequest(provider("ssh"), { remote_port: "9e3" })).toMatchObject({ remote_port: "9e3" });
  });
  it("does not send what was typed for another provider", () => {
    expect(tunnelRequest(provider("tailscale"), { host: "me@box" })).toEqual({ provider: "tailscale" });
  });
  it("names the first field that is needed and empty", () => {
    expect(missingField(provider("ssh"), { host: "me@box" })?.name).toBe("remote_port");
    expect(missingField(provider("cloudflared"), {})).toBeNull();
  });
});
