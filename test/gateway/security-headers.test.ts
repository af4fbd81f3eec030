import { describe, expect, it } from "vitest";
import { isSecureContext } from "../../src/gateway/checks/origin.ts";
import type { GatePass } from "../../src/gateway/gate-pass.ts";
import { apiHeaders, pageHeadersFor } from "../../src/gateway/security-headers.ts";

describe("the page's policy", () => {
  const policy = new Map(
    (pageHeadersFor(true)["content-security-policy"] ?? "")
      .split("; ")
      .map((directive) => [directive.split(" ")[0], directive.split(" ").slice(1).join(" ")] as const),
  );

  it.each([
    ["an inline or foreign script", "script-src", "'self'"],
    ["an inline or foreign style", "style-src", "'self'"],
    ["a request to another origin", "connect-src", "'self'"],
    ["a worker of another origin", "worker-src", "'self'"],
    ["a picture that tells another origin what was read", "img-src", "'self' data: blob:"],
    ["text that becomes markup or script", "require-trusted-types-for", "'script'"],
    ["a second way round that rule", "trusted-types", "sallyport-worker"],
    ["a base address that moves every link", "base-uri", "'none'"],
    ["a form that sends what was typed elsewhere", "form-action", "'none'"],
    ["a frame of another page around it", "frame-ancestors", "'none'"],
    ["everything else", "default-src", "'none'"],
  ])("refuses %s", (_attack, directive, value) => {
    expect(policy.get(directive)).toBe(value);
  });

  it("allows nothing inline and evaluates nothing", () => {
    expect([...policy.values()].join(" ")).not.toMatch(/unsafe|\*|https?:/);
  });

  it("lets answers of the API load nothing at all", () => {
    expect(apiHeaders["content-security-policy"]).toBe("default-src 'none'; frame-ancestors 'none'");
  });

  it("isolates the page from other windows where browsers can, and is silent where they would complain", () => {
    expect(pageHeadersFor(true)["cross-origin-opener-policy"]).toBe("same-origin");
    expect(pageHeadersFor(false)["cross-origin-opener-policy"]).toBeUndefined();
  });
});

describe("isSecureContext", () => {
  it.each([
    ["this machine", "local", "main", false, null, true],
    ["a network in the clear", "remote", "main", false, null, false],
    ["TLS of our own", "remote", "main", true, null, true],
    ["a tunnel with https", "remote", "forwarder", false, "https", true],
    ["a proxy with plain http", "remote", "forwarder", false, "http", false],
    ["a door without an address yet", "remote", "forwarder", false, null, false],
  ] as const)("of %s", (_title, requestClass, kind, secure, scheme, expected) => {
    const publicAddress = scheme && { scheme };
    const pass = { requestClass, arrival: { door: { kind, publicAddress }, peer: { secure } } };
    expect(isSecureContext(pass as unknown as GatePass)).toBe(expected);
  });
});
