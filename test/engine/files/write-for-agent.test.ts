import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  findWriteTarget,
  type WriteLimits,
  writeForAgent,
} from "../../../src/engine/files/write-for-agent.ts";
import { SallyportError } from "../../../src/errors.ts";

let base = "";
let home = "";
let project = "";
let limits: WriteLimits = { homeFolder: "", maxBytes: 1_000 };

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "sallyport-write-")));
  home = join(base, "user", ".sallyport");
  project = join(base, "user", "project");
  mkdirSync(join(home, "jobs"), { recursive: true });
  mkdirSync(project);
  writeFileSync(join(home, "daemon.token"), "spm_secret");
  limits = { homeFolder: home, maxBytes: 1_000 };
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

async function write(path: string, text: string): Promise<string> {
  const target = await findWriteTarget(path, limits);
  await writeForAgent(target, text, limits);
  return target.realPath;
}

describe("writing a file for an agent", () => {
  it("makes a new file with its folders, and leaves nothing beside it", async () => {
    await write(join(project, "a/b/new.txt"), "hello\n");
    expect(readFileSync(join(project, "a/b/new.txt"), "utf8")).toBe("hello\n");
    expect(readdirSync(join(project, "a/b"))).toEqual(["new.txt"]);
  });

  it("replaces a file and keeps its mode", async () => {
    writeFileSync(join(project, "run.sh"), "old");
    chmodSync(join(project, "run.sh"), 0o750);
    const target = await findWriteTarget(join(project, "run.sh"), limits);
    expect(target.before?.toString()).toBe("old");
    await writeForAgent(target, "new", limits);
    expect(readFileSync(join(project, "run.sh"), "utf8")).toBe("new");
    expect(statSync(join(project, "run.sh")).mode & 0o777).toBe(0o750);
  });

  it("writes through a link to the file that it names, and says which that is", async () => {
    writeFileSync(join(project, "real.txt"), "old");
    symlinkSync("real.txt", join(project, "link.txt"));
    expect(await write(join(project, "link.txt"), "new")).toBe(join(project, "real.txt"));
    expect(readFileSync(join(project, "real.txt"), "utf8")).toBe("new");
    expect(realpathSync(join(project, "link.txt"))).toBe(join(project, "real.txt"));
  });

  it("keeps both names of a file that has two", async () => {
    writeFileSync(join(project, "one"), "old");
    linkSync(join(project, "one"), join(project, "two"));
    await write(join(project, "one"), "new");
    expect(readFileSync(join(project, "two"), "utf8")).toBe("new");
  });

  it.each([
    ["by its path", () => join(home, "config.toml")],
    ["by dots", () => `${project}/../.sallyport/config.toml`],
    ["in a folder of it", () => join(home, "jobs", "x.json")],
    [
      "by a link to the folder",
      () => {
        symlinkSync(home, join(project, "inside"));
        return join(project, "inside", "config.toml");
      },
    ],
    [
      "by a link to a file of it",
      () => {
        symlinkSync(join(home, "daemon.token"), join(project, "notes"));
        return join(project, "notes");
      },
    ],
    [
      "by a second name of a file of it",
      () => {
        linkSync(join(home, "daemon.token"), join(project, "notes"));
        return join(project, "notes");
      },
    ],
  ])("off limits: refuses what lies in the home, reached %s, and changes nothing", async (_how, make) => {
    await expect(write(make(), "x")).rejects.toMatchObject({ code: "path_refused", status: 403 });
    expect(readFileSync(join(home, "daemon.token"), "utf8")).toBe("spm_secret");
    expect(existsSync(join(home, "config.toml"))).toBe(false);
    expect(readdirSync(join(home, "jobs"))).toEqual([]);
  });

  it("swapped folder: refuses a folder that became a link into the home after it was judged", async () => {
    mkdirSync(join(project, "src"));
    const target = await findWriteTarget(join(project, "src", "config.toml"), limits);
    renameSync(join(project, "src"), join(project, "old"));
    symlinkSync(home, join(project, "src"));
    await expect(writeForAgent(target, "x", limits)).rejects.toMatchObject({ field: "path" });
    expect(existsSync(join(home, "config.toml"))).toBe(false);
  });

  it("race: a folder that is swapped all the time for a link into the home ends in refusals, never in a fault", async () => {
    const folder = join(project, "src");
    mkdirSync(folder);
    let over = false;
    // A write may make the folder while it is away: that is cleared out of the way.
    const attempt = (step: () => void): void => {
      try {
        step();
      } catch (error) {
        expect(["EEXIST", "ENOTEMPTY", "EISDIR"]).toContain((error as NodeJS.ErrnoException).code);
      }
    };
    const swapping = (async () => {
      while (!over) {
        attempt(() => renameSync(folder, `${folder}.old`));
        await nextTurn();
        attempt(() => symlinkSync(home, folder));
        await nextTurn();
        attempt(() => rmSync(folder, { recursive: true, force: true }));
        attempt(() => renameSync(`${folder}.old`, folder));
        await nextTurn();
      }
    })();
    const faults: unknown[] = [];
    for (let each = 0; each < 400; each += 1) {
      const path = join(folder, "made", `deep${each}`, "a.txt");
      await write(path, "x").catch((error: unknown) => {
        if (!(error instanceof SallyportError)) faults.push(error);
      });
    }
    over = true;
    await swapping;
    expect(faults).toEqual([]);
    expect(readdirSync(home).sort()).toEqual(["daemon.token", "jobs"]);
    expect(readdirSync(join(home, "jobs"))).toEqual([]);
  });

  it("swapped file: refuses a file that became a link after it was judged", async () => {
    const target = await findWriteTarget(join(project, "new.txt"), limits);
    symlinkSync(join(home, "daemon.token"), join(project, "new.txt"));
    await expect(writeForAgent(target, "x", limits)).rejects.toMatchObject({ reason: "changed" });
    expect(readFileSync(join(home, "daemon.token"), "utf8")).toBe("spm_secret");
  });

  it.each([
    ["a folder", () => project, "invalid_field"],
    ["a path that is not absolute", () => "notes.txt", "invalid_field"],
    [
      "a path below a file",
      () => {
        writeFileSync(join(project, "file"), "");
        return join(project, "file", "below");
      },
      "invalid_field",
    ],
    [
      "a FIFO",
      () => {
        spawnSync("mkfifo", [join(project, "pipe")]);
        return join(project, "pipe");
      },
      "path_refused",
    ],
    [
      "a link that leads nowhere",
      () => {
        symlinkSync(join(base, "nowhere"), join(project, "dangling"));
        return join(project, "dangling");
      },
      "path_refused",
    ],
    ["a file of the kernel", () => "/proc/self/comm", "path_refused"],
    [
      "a file over the bound",
      () => {
        writeFileSync(join(project, "large"), "x".repeat(1_001));
        return join(project, "large");
      },
      "too_large",
    ],
  ])("refuses %s", async (_what, make, code) => {
    await expect(write(make(), "x")).rejects.toMatchObject({ code });
  });

  it("leaves a file alone that its owner may not write", async () => {
    writeFileSync(join(project, "fixed"), "old");
    chmodSync(join(project, "fixed"), 0o444);
    // Root may write everything.
    if (process.getuid?.() === 0) return;
    await expect(write(join(project, "fixed"), "new")).rejects.toMatchObject({ code: "path_refused" });
    expect(readFileSync(join(project, "fixed"), "utf8")).toBe("old");
  });
});
