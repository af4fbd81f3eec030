import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseTarget, stripBase } from "../../src/auth/parse-target.ts";

const maxBytes = 200;

describe("parseTarget", () => {
  it.each([
    ["/", "/", "/", ""],
    ["/api/daemon", "/api/daemon", "/api/daemon", ""],
    ["/api/ws?version=1&token=a%20b", "/api/ws", "/api/ws", "version=1&token=a%20b"],
    ["/%61pi/daemon", "/api/daemon", "/api/daemon", ""],
    ["/a%20b/c", "/a b/c", "/a%20b/c", ""],
    ["/caf%c3%a9", "/café", "/caf%C3%A9", ""],
    ["/x%252e%252e", "/x%2e%2e", "/x%252e%252e", ""],
    ["/.well-known/x", "/.well-known/x", "/.well-known/x", ""],
    ["/api/devices/", "/api/devices/", "/api/devices/", ""],
    ["/a?", "/a", "/a", ""],
    ["/a?b=/../c//d", "/a", "/a", "b=/../c//d"],
  ])("reads %s", (raw, path, routedPath, rawQuery) => {
    expect(parseTarget(raw, maxBytes)).toEqual({ path, routedPath, rawQuery });
  });

  it.each([
    ["no slash", "api"],
    ["empty", ""],
    ["asterisk-form", "*"],
    ["absolute-form", "http://localhost/"],
    ["authority-form", "localhost:80"],
    ["two slashes first", "//evil.example/"],
    ["two slashes inside", "/api//daemon"],
    ["backslash", "/api\\daemon"],
    ["fragment", "/a#b"],
    ["fragment in the query", "/a?b#c"],
    ["dot segment", "/api/../x"],
    ["dot segment at the end", "/api/.."],
    ["single dot", "/./api"],
    ["encoded dots", "/api/%2e%2e/x"],
    ["half-encoded dots", "/api/.%2E/x"],
    ["encoded slash", "/api%2fdaemon"],
    ["encoded backslash", "/api%5cdaemon"],
    ["NUL", "/a%00b"],
    ["encoded newline", "/a%0d%0ab"],
    ["delete", "/a%7f"],
    ["cut escape", "/a%"],
    ["cut escape of one digit", "/a%4"],
    ["no hex", "/a%zz"],
    ["invalid UTF-8", "/a%ff"],
    ["overlong UTF-8", "/%c0%af"],
    ["surrogate", "/%ed%a0%80"],
    ["bad escape in the query", "/a?b=%"],
    ["invalid UTF-8 in the query", "/a?b=%ff"],
    ["NUL in the query", "/a?b=%00"],
    ["space", "/a b"],
    ["latin-1", "/é"],
    ["latin-1 in the query", "/a?é"],
    ["brackets", "/a[0]"],
    ["over-long", `/${"a".repeat(maxBytes)}`],
  ])("refuses a target with %s", (_name, raw) => {
    expect(parseTarget(raw, maxBytes)).toBeNull();
  });

  it("leaves nothing that a second reader could take for another path", () => {
    fc.assert(
      fc.property(fc.stringMatching(/^\/[a-z.%0-9A-F/\\?;]{0,20}$/), (raw) => {
        const target = parseTarget(raw, maxBytes);
        if (target === null) return true;
        const again = parseTarget(target.routedPath, maxBytes * 3);
        const asUrl = new URL(target.routedPath, "http://h").pathname;
        return (
          again?.path === target.path &&
          asUrl === target.routedPath &&
          decodeURIComponent(asUrl) === target.path
        );
      }),
      { numRuns: 2_000 },
    );
  });
});

describe("stripBase", () => {
  it.each([
    ["/base/api/hello", "/base", "/api/hello"],
    ["/base/", "/base", "/"],
    ["/base", "/base", "/"],
    ["/api/hello", "/base", "/api/hello"],
    ["/basement/api", "/base", "/basement/api"],
    ["/a/b/api", "/a/b", "/api"],
    ["/%62ase/api/x%20y", "/base", "/api/x y"],
    ["/api/hello", "", "/api/hello"],
  ])("answers %s below %j as %s", (raw, basePath, path) => {
    const target = parseTarget(raw, maxBytes);
    expect(target && stripBase(target, basePath).path).toBe(path);
    expect(target && decodeURIComponent(stripBase(target, basePath).routedPath)).toBe(path);
  });
});
