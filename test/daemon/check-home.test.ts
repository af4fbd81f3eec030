import { chmod, mkdir, mkdtemp, realpath, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { checkHome } from "../../src/daemon/check-home.ts";
import { homeProblem, parentProblem } from "../../src/daemon/judge-folder.ts";

describe("homeProblem", () => {
  const facts = (over: object) => ({ path: "/h", uid: 1000, mode: 0o700, kind: "folder" as const, ...over });
  it.each([
    [facts({}), null, "ours, 0700"],
    [facts({ mode: 0o755 }), null, "readable only: closed, not refused"],
    [facts({ mode: 0o770 }), "chmod 700 /h", "writable by the group"],
    [facts({ mode: 0o702 }), "chmod 700 /h", "writable by others"],
    [facts({ mode: 0o1777 }), "chmod 700 /h", "the sticky bit does not help: others may add files"],
    [facts({ uid: 1001 }), "another user", "a stranger's"],
    [facts({ uid: 0 }), "another user", "root's"],
    [facts({ kind: "other" }), "not a folder", "a file"],
  ])("of %j says %j (%s)", (given, says, _why) => {
    const problem = homeProblem(given, 1000);
    if (says === null) expect(problem).toBeNull();
    else expect(problem).toContain(says);
  });

  it("judges no owner where the system has none", () => {
    expect(homeProblem(facts({ uid: 0, mode: 0o777 }), null)).toBeNull();
  });
});

describe("parentProblem", () => {
  const facts = (over: object) => ({ path: "/p", uid: 0, mode: 0o755, kind: "folder" as const, ...over });
  it.each([
    [facts({}), null, "root's"],
    [facts({ uid: 1000 }), null, "ours"],
    [facts({ mode: 0o1777 }), null, "/tmp: sticky"],
    [facts({ mode: 0o777 }), "chmod go-w /p", "writable without the sticky bit"],
    [facts({ mode: 0o775 }), "chmod go-w /p", "writable by a group"],
    [facts({ uid: 1000, mode: 0o777 }), "chmod go-w /p", "ours, but writable"],
    [facts({ uid: 1001 }), "another user", "a stranger's"],
    [facts({ uid: 1001, mode: 0o777, kind: "link" }), "another user", "a stranger's link"],
    [facts({ uid: 1000, mode: 0o777, kind: "link" }), null, "our link: its mode means nothing"],
  ])("of %j says %j (%s)", (given, says, _why) => {
    const problem = parentProblem(given, 1000);
    if (says === null) expect(problem).toBeNull();
    else expect(problem).toContain(says);
  });
});

describe("checkHome", () => {
  let folder: string;
  beforeEach(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), "sallyport-home-")));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  it("makes a missing home 0700, with its parents", async () => {
    const home = join(folder, "a", "b");
    await checkHome(home);
    expect((await stat(home)).mode & 0o777).toBe(0o700);
  });

  it("closes a home that others can read", async () => {
    const home = join(folder, "home");
    await mkdir(home);
    await chmod(home, 0o755);
    await checkHome(home);
    expect((await stat(home)).mode & 0o777).toBe(0o700);
  });

  it("refuses a home that others can write, and changes nothing", async () => {
    const home = join(folder, "home");
    await mkdir(home);
    await chmod(home, 0o777);
    await expect(checkHome(home)).rejects.toMatchObject({ problem: "home" });
    expect((await stat(home)).mode & 0o777).toBe(0o777);
  });

  it("refuses a parent that others can write before it makes anything below it", async () => {
    const parent = join(folder, "open");
    await mkdir(parent);
    await chmod(parent, 0o777);
    await expect(checkHome(join(parent, "home"))).rejects.toThrow(`chmod go-w ${parent}`);
    await expect(stat(join(parent, "home"))).rejects.toThrow("ENOENT");
  });

  it("follows a link to the home and judges where it leads", async () => {
    await mkdir(join(folder, "open"), { mode: 0o755 });
    await mkdir(join(folder, "open", "home"), { mode: 0o700 });
    await symlink(join("open", "home"), join(folder, "link"));
    await checkHome(join(folder, "link"));
    await chmod(join(folder, "open"), 0o777);
    await expect(checkHome(join(folder, "link"))).rejects.toThrow("above the home");
  });

  it("judges the folder that holds a link, too: the link could be turned elsewhere", async () => {
    await mkdir(join(folder, "safe"), { mode: 0o700 });
    await mkdir(join(folder, "open"));
    await chmod(join(folder, "open"), 0o777);
    await symlink(join(folder, "safe"), join(folder, "open", "link"));
    await expect(checkHome(join(folder, "open", "link"))).rejects.toThrow("above the home");
  });

  it("refuses a ring of links, a dangling link and a file", async () => {
    await symlink(join(folder, "ring"), join(folder, "ring"));
    await symlink(join(folder, "nowhere"), join(folder, "dangling"));
    await writeFile(join(folder, "file"), "");
    for (const name of ["ring", "dangling", "file", join("file", "home")])
      await expect(checkHome(join(folder, name))).rejects.toMatchObject({ problem: "home" });
  });
});
