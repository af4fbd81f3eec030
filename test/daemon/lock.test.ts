import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { build } from "esbuild";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { acquireLock, lockHolder } from "../../src/daemon/lock.ts";
import { readProcessIdentity } from "../../src/lib/process-identity.ts";

const source = new URL("../../src/daemon/lock.ts", import.meta.url).pathname;
let programs: string;
let folder: string;
const children: ChildProcess[] = [];

/** A process that tries once when it reads a line, says what it got, and then lives until it is killed. */
beforeAll(async () => {
  programs = await mkdtemp(join(tmpdir(), "sallyport-lock-program-"));
  await build({
    stdin: {
      contents: `import { acquireLock } from ${JSON.stringify(source)};
process.stdin.once("data", async () => {
  try { process.stdout.write(JSON.stringify(await acquireLock(process.argv[2])) + "\\n"); }
  catch (error) { process.stdout.write(JSON.stringify({ error: String(error) }) + "\\n"); }
});
process.stdout.write("ready\\n");`,
      resolveDir: programs,
    },
    bundle: true,
    platform: "node",
    format: "esm",
    outfile: join(programs, "try.mjs"),
    logLevel: "error",
  });
});
afterAll(() => rm(programs, { recursive: true, force: true }));
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "sallyport-lock-"));
});
afterEach(async () => {
  await Promise.all(children.splice(0).map(end));
  await rm(folder, { recursive: true, force: true });
});

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  child.kill("SIGKILL");
  await exited;
}

async function startTrier() {
  const child = spawn(process.execPath, [join(programs, "try.mjs"), folder]);
  children.push(child);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  await lines.next();
  const attempt = async () => {
    child.stdin.write("go\n");
    return JSON.parse((await lines.next()).value) as { held: boolean; pid?: number; error?: string };
  };
  return { child, attempt };
}

describe("acquireLock", () => {
  it("twenty processes at once: exactly one gets it, and the others name it", async () => {
    const triers = await Promise.all(Array.from({ length: 20 }, startTrier));
    const results = await Promise.all(triers.map((trier) => trier.attempt()));
    const winners = triers.filter((_, index) => results[index]?.held);
    expect(winners).toHaveLength(1);
    for (const result of results) if (!result.held) expect(result.pid).toBe(winners[0]?.child.pid);
  });

  it("twenty processes at once after a kill -9 of the holder: exactly one follows", async () => {
    const first = await startTrier();
    expect(await first.attempt()).toMatchObject({ held: true });
    const triers = await Promise.all(Array.from({ length: 20 }, startTrier));
    await end(first.child);
    const results = await Promise.all(triers.map((trier) => trier.attempt()));
    expect(results.filter((result) => result.held)).toHaveLength(1);
  });

  it("is not fooled by a stranger that got the pid of a dead holder", async () => {
    const own = await readProcessIdentity(process.pid);
    await writeFile(join(folder, "daemon.lock.4"), JSON.stringify({ ...own, start: "1" }));
    expect(await (await startTrier()).attempt()).toMatchObject({ held: true, number: 5 });
  });

  it("is refused while the holder lives", async () => {
    const holder = await readProcessIdentity(process.pid);
    await writeFile(join(folder, "daemon.lock.1"), JSON.stringify(holder));
    expect(await (await startTrier()).attempt()).toEqual({ held: false, pid: process.pid });
    expect(await lockHolder(folder)).toEqual(holder);
  });

  it.each(["", "{", "[]", "null", '{"pid":-1}', "\u0000\u0000"])(
    "takes the damaged file %j for nobody's",
    async (text) => {
      await writeFile(join(folder, "daemon.lock.1"), text);
      expect(await lockHolder(folder)).toBeNull();
      expect(await (await startTrier()).attempt()).toMatchObject({ held: true, number: 2 });
    },
  );

  it.each([
    ["a folder", (path: string) => mkdir(path)],
    ["a link that leads nowhere", (path: string) => symlink(join(folder, "nothing"), path)],
    ["a pipe", async (path: string) => void spawnSync("mkfifo", [path])],
  ])("refuses %s in the place of a lock, by its name and without waiting for it", async (_what, put) => {
    const path = join(folder, "daemon.lock.3");
    await put(path);
    await expect(acquireLock(folder)).rejects.toMatchObject({ code: "EINVAL", path });
    expect(await readdir(folder)).toEqual(["daemon.lock.3"]);
  });

  it("leaves a few files behind however often it changes hands", async () => {
    for (let i = 0; i < 6; i++) {
      const trier = await startTrier();
      expect(await trier.attempt()).toMatchObject({ held: true });
      await end(trier.child);
    }
    expect((await readdir(folder)).sort()).toEqual(["daemon.lock.4", "daemon.lock.5", "daemon.lock.6"]);
  });

  it("does not take the same lock twice in one process: that is a mistake of the program", async () => {
    await acquireLock(folder);
    await expect(acquireLock(folder)).rejects.toThrow(TypeError);
  });
});
