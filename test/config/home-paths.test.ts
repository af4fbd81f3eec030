import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { homePaths, resolveHome } from "../../src/config/home-paths.ts";

describe("resolveHome", () => {
  it.each([
    ["/a", {}, "/a", "the option"],
    ["/a", { SALLYPORT_HOME: "/b" }, "/a", "the option before the variable"],
    [undefined, { SALLYPORT_HOME: "/b" }, "/b", "the variable"],
    [undefined, {}, join(homedir(), ".sallyport"), "the default"],
    ["rel", {}, resolve("rel"), "a relative option"],
  ])("of %j and %j is %j (%s)", (flag, env, home, _why) => {
    expect(resolveHome(flag, env)).toBe(home);
  });

  it("refuses an empty name instead of taking the default or the working folder", () => {
    expect(() => resolveHome("", {})).toThrow(RangeError);
    expect(() => resolveHome(undefined, { SALLYPORT_HOME: "" })).toThrow(RangeError);
  });
});

describe("homePaths", () => {
  it("puts every file below the home", () => {
    for (const path of Object.values(homePaths("/h"))) expect(path.startsWith("/h")).toBe(true);
  });

  it("takes no relative home", () => {
    expect(() => homePaths("h")).toThrow(TypeError);
  });
});
