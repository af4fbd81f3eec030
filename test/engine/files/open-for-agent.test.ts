import { spawnSync } from "node:child_process";
import {
  linkSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type FileLimits, openForAgent } from "../../../src/engine/files/open-for-agent.ts";

const linux = process.platform === "linux";
let base = "";
let home = "";
let project = "";
let limits: FileLimits = { homeFolder: "", browseRoot: null };

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "sallyport-files-")));
  home = join(base, "user", ".sallyport");
  project = join(base, "user", "project");
  mkdirSync(join(home, "jobs", "deep"), { recursive: true });
  mkdirSync(project);
  writeFileSync(join(home, "daemon.token"), "spm_secret");
  writeFileSync(join(home, "jobs", "deep", "x.log"), "secret");
  writeFileSync(join(project, "README.md"), "hello");
  limits = { homeFolder: home, browseRoot: null };
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

async function read(path: string, with_: FileLimits = limits): Promise<string> {
  const opened = await openForAgent(path, with_);
  try {
    return await opened.handle.readFile("utf8");
  } finally {
    await opened.handle.close();
  }
}
const refusedAs = (code: string) => expect.objectContaining({ name: "SallyportError", code, field: "path" });

describe("openForAgent", () => {
  it("opens a regular file and tells its real path", async () => {
    symlinkSync("README.md", join(project, "link"));
    expect(await read(join(project, "README.md"))).toBe("hello");
    const opened = await openForAgent(join(project, "link"), limits);
    await opened.handle.close();
    expect(opened.realPath).toBe(join(project, "README.md"));
    expect(opened.stat.size).toBe(5);
  });

  it.each<[string, () => string]>([
    ["its own path", () => join(home, "daemon.token")],
    ["a path with dots", () => `${project}/../.sallyport/./daemon.token`],
    ["doubled slashes", () => `${home}//daemon.token`],
    ["a symbolic link to the file", () => link(join(home, "daemon.token"), "l1")],
    ["a chain of links", () => link(link(join(home, "daemon.token"), "l1"), "l2")],
    ["a relative link", () => link("../.sallyport/daemon.token", "l3")],
    ["a link to the home", () => `${link(home, "l4")}/daemon.token`],
    ["a link to a folder in the home", () => `${link(join(home, "jobs"), "l5")}/deep/x.log`],
    ["a hard link", () => hardLink(join(home, "daemon.token"))],
    ["a hard link to a deep file", () => hardLink(join(home, "jobs", "deep", "x.log"))],
  ])("refuses a file of the home by %s", async (_, path) => {
    await expect(read(path())).rejects.toEqual(refusedAs("path_refused"));
  });

  it("refuses a file of the home when the home itself is named by a link", async () => {
    const alias = link(home, "home-link");
    await expect(read(join(home, "daemon.token"), { ...limits, homeFolder: alias })).rejects.toEqual(
      refusedAs("path_refused"),
    );
  });

  it.runIf(linux)("refuses the magic links and the insides of processes", async () => {
    symlinkSync(join(home, "daemon.token"), join(project, "l"));
    for (const path of [
      "/proc/self/environ",
      "/proc/self/cmdline",
      `/proc/${process.pid}/environ`,
      `/proc/self/root${home}/daemon.token`,
      "/proc/self/mem",
      "/sys/kernel/mm/transparent_hugepage/enabled",
      "/dev/null",
      "/dev/zero",
      "/dev/stdin",
      "/dev/fd/0",
    ])
      await expect(read(path), path).rejects.toMatchObject({
        code: expect.stringMatching(/path_refused|not_found/),
      });
  });

  it("refuses folders, sockets and missing files", async () => {
    await expect(read(project)).rejects.toEqual(refusedAs("path_refused"));
    await expect(read(join(project, "none"))).rejects.toEqual(refusedAs("not_found"));
    await expect(read(join(project, "README.md", "x"))).rejects.toEqual(refusedAs("not_found"));
    symlinkSync("loop", join(project, "loop"));
    await expect(read(join(project, "loop"))).rejects.toEqual(refusedAs("path_refused"));
    const server = createServer().listen(join(project, "s"));
    await new Promise((resolve) => server.once("listening", resolve));
    await expect(read(join(project, "s"))).rejects.toEqual(refusedAs("path_refused"));
    await new Promise((resolve) => server.close(resolve));
  });

  it("does not hang at a FIFO that nobody writes", async () => {
    expect(spawnSync("mkfifo", [join(project, "pipe")]).status).toBe(0);
    await expect(read(join(project, "pipe"))).rejects.toEqual(refusedAs("path_refused"));
  });

  it.each(["", "README.md", "./x", "~/x", "/a\0b", `/${"x".repeat(5_000)}`, "/\ud800"])(
    "refuses %j as a path",
    async (path) => {
      await expect(read(path)).rejects.toEqual(refusedAs("invalid_field"));
    },
  );

  it("stays below the browse root, by links as well", async () => {
    const bounded = { ...limits, browseRoot: project };
    writeFileSync(join(base, "outside"), "x");
    expect(await read(join(project, "README.md"), bounded)).toBe("hello");
    expect(await read(join(project, "README.md"), { ...limits, browseRoot: link(project, "root") })).toBe(
      "hello",
    );
    for (const path of [
      join(base, "outside"),
      `${project}/../../outside`,
      link(join(base, "outside"), "out"),
    ])
      await expect(read(path, bounded)).rejects.toEqual(refusedAs("path_refused"));
    mkdirSync(`${project}2`);
    writeFileSync(join(`${project}2`, "a"), "x");
    await expect(read(join(`${project}2`, "a"), bounded)).rejects.toEqual(refusedAs("path_refused"));
  });

  it("refuses when it cannot look at the home", async () => {
    await expect(
      read(join(project, "README.md"), { ...limits, homeFolder: join(base, "none") }),
    ).rejects.toEqual(refusedAs("path_refused"));
  });

  it("race: a folder swapped for a link to the home while files are opened yields no secret", async () => {
    const folder = join(project, "sub");
    mkdirSync(folder);
    writeFileSync(join(folder, "daemon.token"), "harmless");
    symlinkSync(home, join(project, "evil"));
    let running = true;
    const swapper = (async () => {
      while (running) {
        renameSync(folder, join(project, "aside"));
        renameSync(join(project, "evil"), folder);
        await new Promise(setImmediate);
        renameSync(folder, join(project, "evil"));
        renameSync(join(project, "aside"), folder);
        await new Promise(setImmediate);
      }
    })();
    const seen = new Set<string>();
    for (let round = 0; round < 300; round += 1)
      seen.add(await read(join(folder, "daemon.token")).catch((error: { code: string }) => error.code));
    running = false;
    await swapper;
    for (const outcome of seen) expect(["harmless", "path_refused", "not_found"]).toContain(outcome);
  });
});

function link(target: string, name: string): string {
  const path = join(project, name);
  symlinkSync(target, path);
  return path;
}
function hardLink(target: string): string {
  const path = join(project, "hard");
  linkSync(target, path);
  return path;
}
