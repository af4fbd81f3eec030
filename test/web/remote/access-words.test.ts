import { describe, expect, it } from "vitest";
import type { Remote } from "../../../src/protocol/objects.ts";
import { cutsOff, isReadableByTheNetwork } from "../../../web/remote/access-words.ts";
import { httpLink } from "../../../web/remote/http-link.ts";

const remote: Pick<Remote, "access" | "addresses"> = {
  access: "on",
  addresses: [
    { kind: "tunnel", address: "https://x.example/base" },
    { kind: "tunnel", address: "http://127.0.0.1:8800" },
    { kind: "lan", address: "http://192.168.1.20:7700" },
    { kind: "local", address: "http://127.0.0.1:7700" },
  ],
};

describe("cutsOff", () => {
  it.each([
    ["http://127.0.0.1:7700/", "off", false],
    ["http://localhost:7700/", "off", false],
    ["http://[::1]:7700/", "tunnel", false],
    ["https://x.example/base/", "off", true],
    ["https://x.example/base/", "tunnel", false],
    ["http://127.0.0.1:8800/", "off", true],
    ["http://127.0.0.1:8800/", "tunnel", false],
    ["http://192.168.1.20:7700/", "tunnel", true],
    ["http://192.168.1.20:7700/", "on", false],
  ] as const)("of a page at %s when access becomes %s is %s", (base, next, expected) => {
    expect(cutsOff(base, next, remote)).toBe(expected);
  });
});

describe("isReadableByTheNetwork", () => {
  it("warns of plain http in the network, and of nothing else", () => {
    expect(isReadableByTheNetwork(remote)).toBe(true);
    expect(isReadableByTheNetwork({ ...remote, access: "tunnel" })).toBe(false);
    expect(
      isReadableByTheNetwork({
        access: "on",
        addresses: [{ kind: "lan", address: "https://192.168.1.20:7700" }],
      }),
    ).toBe(false);
  });
});

describe("httpLink", () => {
  it.each([
    ["https://login.example/x", "https://login.example/x"],
    ["javascript:alert(1)", null],
    ["data:text/html,x", null],
    ["not a link", null],
  ])("of %s, which a tool printed, is %s", (raw, expected) => expect(httpLink(raw)).toBe(expected));
});
