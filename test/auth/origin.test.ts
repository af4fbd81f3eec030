import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { originAllowed } from "../../src/auth/origin.ts";
import { parseWebOrigin } from "../../src/auth/public-address.ts";
import { readHeaders } from "../../src/auth/read-headers.ts";

const configured = new Set(["https://ide.example", "null", "capacitor://app"]);

function allowed(own: string, headers: readonly string[], targetIsPage = false): boolean {
  return originAllowed(readHeaders(headers), parseWebOrigin(own), configured, () => targetIsPage);
}

describe("originAllowed", () => {
  it.each([
    ["http://localhost:7700", "http://localhost:7700", true, "the page's own"],
    ["http://localhost:7700", "http://LOCALHOST:7700", true, "case does not matter"],
    ["http://box", "http://box:80", true, "default port folded"],
    ["https://x.example:443", "https://x.example", true, "default port folded"],
    ["http://[::1]:7700", "http://[0:0::1]:7700", true, "one address in two spellings"],
    ["http://localhost:7700", "https://localhost:7700", false, "another scheme"],
    ["http://localhost:7700", "http://localhost:3000", false, "another port of this machine"],
    ["http://localhost:7700", "http://127.0.0.1:7700", false, "another name of this machine"],
    ["http://localhost:7700", "https://evil.example", false, "foreign"],
    ["http://localhost:7700", "http://localhost:7700.evil.example", false, "a name that starts like ours"],
    ["http://localhost:7700", "http://localhost:7700/", false, "no origin: it has a path"],
    ["http://localhost:7700", "http://u@localhost:7700", false, "no origin: it has a user"],
    ["http://localhost:7700", "null", false, "opaque, even if configured"],
    ["http://localhost:7700", "", false, "empty"],
    ["http://localhost:7700", "https://ide.example", true, "configured"],
    ["http://localhost:7700", "capacitor://app", true, "configured, of another scheme"],
    [
      "http://localhost:7700",
      "https://ide.example:443",
      false,
      "configured ones are compared letter by letter",
    ],
    ["http://localhost:7700", "vscode-webview://1a2b3c4d-0000", true, "a webview"],
    ["http://localhost:7700", "vscode-webview://", false, "a webview without an id"],
    ["http://localhost:7700", "vscode-webview://a/b", false, "a webview with a path"],
    ["http://localhost:7700", "vscode-webview://a@evil.example", false, "a webview with a user"],
    ["http://localhost:7700", "http://localhost:7700, http://localhost:7700", false, "two in one line"],
  ])("at %s, Origin %s: %s (%s)", (own, origin, expected) => {
    expect(allowed(own, ["Origin", origin])).toBe(expected);
    expect(allowed(own, ["Origin", origin, "Sec-Fetch-Site", "cross-site"])).toBe(expected);
  });

  it("refuses a repeated Origin, even if both are ours", () => {
    expect(allowed("http://box", ["Origin", "http://box", "origin", "http://box"])).toBe(false);
  });

  it.each([
    [[], false, true],
    [["Sec-Fetch-Site", "none"], false, true],
    [["Sec-Fetch-Site", "same-origin"], false, true],
    [["Sec-Fetch-Site", "cross-site"], false, false],
    [
      ["Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"],
      true,
      true,
    ],
    [
      ["Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"],
      false,
      false,
    ],
    [["Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "iframe"], true, false],
    [["Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "no-cors", "Sec-Fetch-Dest", "image"], true, false],
  ])("without an Origin, %j, page %s: %s", (headers, targetIsPage, expected) => {
    expect(allowed("http://box", headers, targetIsPage)).toBe(expected);
  });

  it("never lets an unknown text in", () => {
    fc.assert(fc.property(fc.string(), (origin) => !allowed("http://box", ["Origin", origin])));
    fc.assert(fc.property(fc.webUrl(), (origin) => !allowed("http://box", ["Origin", origin])));
  });
});
