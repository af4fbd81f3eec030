import { describe, expect, it } from "vitest";
import { isWithin } from "../../src/lib/path-within.ts";

describe("a path within a folder", () => {
  it.each([
    ["/a/b", "/a/b", true],
    ["/a/b/c", "/a/b", true],
    ["/a/bc", "/a/b", false],
    ["/a", "/a/b", false],
    ["/a", "/", true],
    ["/", "/", true],
  ])("%s in %s: %s", (path, folder, expected) => {
    expect(isWithin(path, folder)).toBe(expected);
  });
});
