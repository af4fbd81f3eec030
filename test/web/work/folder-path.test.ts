import { describe, expect, it } from "vitest";
import { crumbsOf, lastPart, recentFolders } from "../../../web/work/folder-path.ts";

describe("crumbsOf", () => {
  it.each([
    ["/home/me", "/home/me", ["me"], ["/home/me"]],
    ["/home/me", "/home/me/src/api", ["me", "src", "api"], ["/home/me", "/home/me/src", "/home/me/src/api"]],
    ["/", "/srv/x", ["/", "srv", "x"], ["/", "/srv", "/srv/x"]],
    ["/home/me", "/home/meier", ["meier"], ["/home/meier"]],
    ["/home/me", "/etc", ["etc"], ["/etc"]],
  ])("from %s to %s has %j", (root, path, names, paths) => {
    const crumbs = crumbsOf(root, path);
    expect(crumbs.map(({ name }) => name)).toEqual(names);
    expect(crumbs.map((crumb) => crumb.path)).toEqual(paths);
  });
});

describe("recentFolders", () => {
  it("names each folder once, the newest first, and leaves out those that are open", () => {
    const sessions = [
      { cwd: "/a" },
      { cwd: null },
      { cwd: "/b" },
      { cwd: "/a" },
      { cwd: "/c" },
      { cwd: "/d" },
    ];
    expect(recentFolders(sessions, ["/b"], 2)).toEqual(["/a", "/c"]);
    expect(recentFolders([], [], 2)).toEqual([]);
  });
});

describe("lastPart", () => {
  it("of the root is the root", () => {
    expect(lastPart("/")).toBe("/");
    expect(lastPart("/srv/api/")).toBe("api");
  });
});
