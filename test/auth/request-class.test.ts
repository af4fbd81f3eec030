import { describe, expect, it } from "vitest";
import { exposureAdmits } from "../../src/auth/exposure.ts";
import { forwarderDoorAnswersTo, hostNames, mainDoorAnswersTo } from "../../src/auth/host-name.ts";
import { parseAuthority } from "../../src/auth/parse-authority.ts";
import { parsePublicAddress } from "../../src/auth/public-address.ts";
import { requestClass } from "../../src/auth/request-class.ts";

function host(raw: string) {
  const authority = parseAuthority(raw);
  if (!authority) throw new Error(raw);
  return authority;
}

describe("requestClass", () => {
  it.each([
    ["main", true, "localhost", false, "local"],
    ["main", true, "[::1]:7700", false, "local"],
    ["main", false, "localhost", false, "remote"],
    ["main", true, "evil.example", false, "remote"],
    ["main", true, "localhost", true, "remote"],
    ["forwarder", true, "localhost", false, "remote"],
  ] as const)(
    "at the %s door, loopback peer %s, Host %s, forwarded %s: %s",
    (door, peer, rawHost, forwarded, expected) => {
      expect(requestClass(door, peer, host(rawHost), forwarded)).toBe(expected);
    },
  );
});

describe("exposureAdmits", () => {
  it.each([
    ["off", "main", false],
    ["off", "forwarder", false],
    ["tunnel", "main", false],
    ["tunnel", "forwarder", true],
    ["on", "main", true],
    ["on", "forwarder", true],
  ] as const)("with access %s, remote requests at a %s door: %s", (access, door, admitted) => {
    expect(exposureAdmits(access, door)).toBe(admitted);
  });
});

describe("mainDoorAnswersTo", () => {
  const names = hostNames(["DevBox.local.", "box.example"]);
  it.each([
    ["192.168.1.20:7700", true],
    ["[fe80::1]", true],
    ["devbox.local", true],
    ["BOX.example.:7700", true],
    ["evil.example", false],
    ["127.1", false],
    ["localhost", false],
    ["sub.box.example", false],
  ])("%s: %s", (raw, answers) => {
    expect(mainDoorAnswersTo(host(raw), names)).toBe(answers);
  });
});

describe("forwarderDoorAnswersTo", () => {
  it.each([
    ["https://x.example", "x.example", true],
    ["https://x.example", "X.Example:443", true],
    ["https://x.example", "x.example:80", false],
    ["https://x.example", "x.example:7700", false],
    ["https://x.example:8443/base", "x.example:8443", true],
    ["https://x.example:8443", "x.example", false],
    ["http://10.0.0.1:9000", "10.0.0.1:9000", true],
    ["http://x.example", "x.example:80", true],
    ["https://x.example", "localhost", false],
    ["https://x.example", "y.x.example", false],
    ["https://x.example", "127.0.0.1", false],
    ["https://[2001:db8::1]", "[2001:db8:0::1]", true],
  ])("a door at %s answers to Host %s: %s", (url, raw, answers) => {
    expect(forwarderDoorAnswersTo(host(raw), parsePublicAddress(url))).toBe(answers);
  });

  it("answers to nothing while it has no address", () => {
    expect(forwarderDoorAnswersTo(host("x.example"), null)).toBe(false);
  });

  it.each([
    "ftp://x",
    "x.example",
    "https://",
    "https://u@x.example",
    "https://x.example/?a",
    "https://x.example/a/../b",
    "https://x:0",
  ])("takes no public address from %s", (url) => {
    expect(parsePublicAddress(url)).toBeNull();
  });
});
