import { execFile } from "node:child_process";
import { mkdir, mkdtemp, realpath, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type BrowseQuery, listFolder } from "../../../src/engine/browse/list-folder.ts";
import type { SallyportError } from "../../../src/errors.ts";

let base: string;
let root: string;
let home: string;

beforeEach(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), "sallyport-browse-")));
  root = join(base, "user");
  home = join(root, ".sallyport");
  await mkdir(join(home, "sessions"), { recursive: true, mode: 0o700 });
  await mkdir(join(root, "src", "api"), { recursive: true });
  await mkdir(join(base, "outside", "deep"), { recursive: true });
  await writeFile(join(root, "notes.txt"), "hello");
  await writeFile(join(home, "daemon.token"), "secret");
});
afterEach(() => rm(base, { recursive: true }));

const list = (query: BrowseQuery = {}) =>
  listFolder(query, { homeFolder: home, userHome: root, browseRoot: root });
const names = async (query: BrowseQuery = {}) => (await list(query)).entries.map((entry) => entry.name);
async function refusal(path: string, files = true) {
  try {
    await list({ path, files });
  } catch (error) {
    const { code, field, message } = error as SallyportError;
    return { code, field, message };
  }
  return null;
}

describe("listFolder", () => {
  it("lists the root without a path: subfolders, with files also those, and never the home", async () => {
    expect(await list()).toMatchObject({
      path: root,
      root,
      parent: null,
      next: null,
      truncated: false,
      git: null,
    });
    expect(await names()).toEqual(["src"]);
    expect(await names({ files: true })).toEqual(["notes.txt", "src"]);
    const { entries } = await list({ path: "~/", files: true });
    expect(entries[0]).toMatchObject({
      kind: "file",
      bytes: 5,
      path: join(root, "notes.txt"),
      hidden: false,
    });
    expect(await list({ path: join(root, "src") })).toMatchObject({ parent: root });
  });

  it("flags hidden folders and links, and shows only links that lead to what may be browsed", async () => {
    await mkdir(join(root, ".config"));
    await symlink(join(root, "src"), join(root, "inside"));
    await symlink(join(base, "outside"), join(root, "outside"));
    await symlink(home, join(root, "home"));
    await symlink(join(home, "daemon.token"), join(root, "token"));
    await symlink("loop", join(root, "loop"));
    await symlink("/nowhere", join(root, "dangling"));
    const { entries } = await list({ files: true });
    expect(entries.map((entry) => [entry.name, entry.hidden, entry.link])).toEqual([
      [".config", true, false],
      ["inside", false, true],
      ["notes.txt", false, false],
      ["src", false, false],
    ]);
    expect((await list({ path: join(root, "inside") })).path).toBe(join(root, "src"));
  });

  it("refuses to leave the root by path, dots or link, and tells nothing about what is there", async () => {
    await symlink(base, join(root, "up"));
    const outside = await Promise.all(
      [
        join(base, "outside"),
        join(base, "missing"),
        join(base, "outside", "missing", "deeper"),
        join(root, "up", "outside"),
        join(root, "up", "missing"),
        `${root}/../outside`,
        `${root}/src/../../missing`,
        "/",
        "/etc/passwd",
        "/proc/self/root",
      ].map((path) => refusal(path)),
    );
    for (const each of outside) expect(each).toEqual({ ...outside[0], code: "path_refused", field: "path" });
  });

  it("refuses the home of the daemon by every name, and what is in it", async () => {
    await symlink(home, join(root, "h"));
    for (const path of [
      home,
      join(home, "sessions"),
      join(home, "missing"),
      join(root, "h"),
      join(root, "h", "sessions"),
    ])
      expect((await refusal(path))?.code).toBe("path_refused");
  });

  it.each([
    ["relative", "src", "invalid_field"],
    ["of another user", "~root/x", "invalid_field"],
    ["with a NUL", "/a\0b", "invalid_field"],
    ["over-long", `/${"a".repeat(5_000)}`, "invalid_field"],
    ["missing", "~/missing", "not_found"],
    ["a file", "~/notes.txt", "invalid_field"],
  ])("refuses a path that is %s", async (_, path, code) => {
    expect(await refusal(path)).toMatchObject({ code, field: "path" });
  });

  it("leaves out what is neither folder nor regular file, and is not held up by it", async () => {
    await promisify(execFile)("mkfifo", [join(root, "fifo")]);
    await mkdir(join(root, "repo"));
    await promisify(execFile)("mkfifo", [join(root, "repo", ".git")]);
    expect(await names({ files: true })).toEqual(["notes.txt", "repo", "src"]);
  });

  it("pages by name, and whatever comes or goes meanwhile nothing is shown twice or left out", async () => {
    for (const name of ["b", "A", "c", "B", "Z", "é"]) await mkdir(join(root, "src", name));
    const path = join(root, "src");
    const first = await list({ path, limit: 3 });
    expect(first.entries.map((entry) => entry.name)).toEqual(["A", "api", "B"]);
    await rm(join(path, "A"), { recursive: true });
    await mkdir(join(path, "aa"));
    const second = await list({ path, limit: 3, after: first.next ?? "" });
    expect(second.entries.map((entry) => entry.name)).toEqual(["b", "c", "Z"]);
    const third = await list({ path, limit: 3, after: second.next ?? "" });
    expect(third).toMatchObject({ next: null, entries: [{ name: "é" }] });
  });

  it("reads the branch from .git without running git, and follows a worktree below the root only", async () => {
    const api = join(root, "src", "api");
    await mkdir(join(api, ".git"), { recursive: true });
    await writeFile(join(api, ".git", "HEAD"), "ref: refs/heads/feature/x\n");
    // Running git would run this.
    await writeFile(join(api, ".git", "config"), `[core]\nfsmonitor = touch ${join(base, "ran")}\n`);
    const tree = join(root, "src", "tree");
    await mkdir(join(api, ".git", "worktrees", "tree"), { recursive: true });
    await writeFile(join(api, ".git", "worktrees", "tree", "HEAD"), `${"a1b2c3d4".repeat(5)}\n`);
    await mkdir(tree);
    await writeFile(join(tree, ".git"), "gitdir: ../api/.git/worktrees/tree\n");
    for (const [name, target] of [
      ["evil", join(base, "outside")],
      ["nosy", home],
    ]) {
      await mkdir(join(root, "src", name ?? ""));
      await writeFile(join(target ?? "", "HEAD"), "ref: refs/heads/secret\n");
      await writeFile(join(root, "src", name ?? "", ".git"), `gitdir: ${target}\n`);
    }
    const { entries } = await list({ path: join(root, "src") });
    expect(entries.map((entry) => [entry.name, entry.git])).toEqual([
      ["api", "feature/x"],
      ["evil", null],
      ["nosy", null],
      ["tree", "a1b2c3d4"],
    ]);
    expect((await list({ path: api })).git).toBe("feature/x");
  });

  it("lists a folder with thousands of entries in part, and says so by its next page", async () => {
    const many = join(root, "many");
    await mkdir(many);
    await Promise.all(Array.from({ length: 1_200 }, (_, index) => writeFile(join(many, `f${index}`), "")));
    const page = await list({ path: many, files: true });
    expect(page.entries).toHaveLength(500);
    expect(page.next).not.toBeNull();
  });

  it("refuses everything while the root itself is gone", async () => {
    await rename(root, join(base, "moved"));
    expect(["path_refused", "invalid_field"]).toContain((await refusal(root))?.code);
  });
});
