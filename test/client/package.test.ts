import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { disposeDaemons, startTestDaemon, type TestDaemon } from "../helpers/daemon.ts";
import { request } from "../helpers/http.ts";
import { readRepoFile, repoRoot } from "../meta/sources.ts";

const run = promisify(execFile);
const slowMs = 180_000;
/** All that a page may weigh is 150 KB; the client is a small part of it. */
const maxClientBytes = 20_000;

let folder: string;
let app: string;
let installed: string;

/** Runs a program; never rejects, so that a test can look at what it printed. */
async function program(file: string, args: readonly string[], cwd = app) {
  try {
    return { code: 0, ...(await run(file, args, { cwd, timeout: slowMs })) };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { code, stdout, stderr };
  }
}

// As `npm install` does it without scripts and without the network: the packed files, and the dependencies beside them.
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "sallyport-package-"));
  app = join(folder, "app");
  installed = join(app, "node_modules", "sallyport");
  await mkdir(dirname(installed), { recursive: true });
  await run(process.execPath, [join(repoRoot, "scripts", "build.js")], { cwd: repoRoot, timeout: slowMs });
  await run("npm", ["pack", "--silent", "--pack-destination", folder], { cwd: repoRoot, timeout: slowMs });
  const [archive = ""] = (await readdir(folder)).filter((name) => name.endsWith(".tgz"));
  await run("tar", ["-xzf", join(folder, archive), "-C", folder]);
  await rename(join(folder, "package"), installed);
  const { dependencies } = JSON.parse(readRepoFile("package.json")) as {
    dependencies: Record<string, string>;
  };
  for (const name of Object.keys(dependencies)) {
    await mkdir(dirname(join(app, "node_modules", name)), { recursive: true });
    await symlink(join(repoRoot, "node_modules", name), join(app, "node_modules", name));
  }
  await writeFile(join(app, "package.json"), '{"name":"app","type":"module"}');
}, slowMs);

afterAll(async () => {
  await disposeDaemons();
  await rm(folder, { recursive: true, force: true });
});

describe("the package, packed and installed elsewhere without scripts", () => {
  it("holds what it needs and nothing else", async () => {
    expect((await readdir(installed)).sort()).toEqual(
      ["CHANGELOG.md", "LICENSE", "README.md", "SECURITY.md", "dist", "docs", "package.json"].sort(),
    );
    expect((await readdir(join(installed, "dist"))).sort()).toEqual([
      "client.d.ts",
      "client.js",
      "sallyport.js",
      "web",
    ]);
  });

  it("has a program that tells its version", async () => {
    const { bin, version } = JSON.parse(await readFile(join(installed, "package.json"), "utf8"));
    const ran = await program(process.execPath, [join(installed, bin.sallyport), "--version"]);
    expect(ran).toMatchObject({ code: 0, stdout: `${version}\n` });
    expect((await stat(join(installed, bin.sallyport))).mode & 0o111).not.toBe(0);
  });

  it(
    "has a program that runs a daemon which answers",
    async () => {
      const home = await mkdtemp(join(folder, "home-"));
      const sallyport = join(installed, "dist", "sallyport.js");
      try {
        const started = await program(process.execPath, [
          sallyport,
          "--home",
          home,
          "daemon",
          "start",
          "--port",
          "0",
        ]);
        expect(started.code, started.stderr).toBe(0);
        const { url } = JSON.parse(await readFile(join(home, "daemon.json"), "utf8"));
        expect((await request(url, "GET", "/api/hello")).json).toMatchObject({ app: "sallyport" });
        expect((await request(url, "GET", "/")).status).toBe(200);
      } finally {
        await program(process.execPath, [sallyport, "--home", home, "daemon", "stop", "--force"]);
      }
    },
    slowMs,
  );
});

describe("sallyport/client, installed", () => {
  it("is imported by its name and offers what the documentation names", async () => {
    const ran = await program(process.execPath, [
      "--input-type=module",
      "--eval",
      'import * as client from "sallyport/client"; process.stdout.write(Object.keys(client).join(" "))',
    ]);
    expect(ran.code, ran.stderr).toBe(0);
    const doc = readRepoFile("docs/client.md");
    for (const name of ran.stdout
      .split(" ")
      .filter((each) => !["closeCodes", "createRest", "needsSnapshot"].includes(each)))
      expect(doc).toContain(name);
  });

  it("needs nothing of Node, and stays small", async () => {
    const text = await readFile(join(installed, "dist", "client.js"), "utf8");
    expect(text).not.toMatch(/["']node:|\brequire\(|\bprocess\.|\bBuffer\b/);
    expect(text.match(/\bimport\(.*?\)/g)).toEqual(['import("ws")']);
    expect(gzipSync(text).byteLength).toBeLessThan(maxClientBytes);
  });

  it(
    "has types that need neither Node, nor a DOM, nor another package",
    async () => {
      const types = await readFile(join(installed, "dist", "client.d.ts"), "utf8");
      const withoutComments = types.replace(/\/\*[\s\S]*?\*\//g, "");
      expect(withoutComments).not.toMatch(/\bimport\b|\breference\b|NodeJS|\bany\b/);
      await writeFile(
        join(app, "use.ts"),
        `import { applyChange, createClient, type Job, type Snapshot, type StopReason } from "sallyport/client";
const client = createClient({ base: "https://box.example", token: "t" });
export const jobs: Promise<readonly Job[]> = client.command({ type: "job_list" }).then((reply) => reply.jobs);
export const turn: Promise<string> = client.prompt({ text: "ls", queue: true }).then((receipt) => receipt.turn);
client.onChange((change, state) => {
  const next: Snapshot = applyChange(state, change);
  if (change.type === "event" && change.event.type === "text_delta") change.event.text.length + next.rev;
});
client.onStatus((status) => {
  if (status.phase === "stopped") ((reason: StopReason) => reason)(status.reason);
});
// @ts-expect-error there is no such command
client.command({ type: "make_coffee" });
// @ts-expect-error a job has an id
client.command({ type: "job_kill" });
`,
      );
      await writeFile(
        join(app, "tsconfig.json"),
        JSON.stringify({
          compilerOptions: {
            noEmit: true,
            strict: true,
            target: "es2022",
            lib: ["es2022"],
            module: "nodenext",
            types: [],
            exactOptionalPropertyTypes: true,
          },
          files: ["use.ts"],
        }),
      );
      const checked = await program(process.execPath, [
        join(repoRoot, "node_modules", "typescript", "bin", "tsc"),
        "-p",
        app,
      ]);
      expect(checked.stdout).toBe("");
    },
    slowMs,
  );
});

describe("docs/client.md", () => {
  const example = readRepoFile("examples/client-watch-job.mjs");

  it("shows the example as it is", () => {
    expect(readRepoFile("docs/client.md")).toContain(`\`\`\`js\n${example}\`\`\``);
  });

  it(
    "has an example that pairs, runs a job and prints its output; and again with the token that it kept",
    async () => {
      const daemon: TestDaemon = await startTestDaemon();
      await writeFile(join(app, "example.mjs"), example);
      const { json } = await daemon.request("POST", "/api/pair/codes", { body: {} });
      const first = await program(process.execPath, [
        "example.mjs",
        `${daemon.url}/#pair=${json.code}`,
        "echo one; sleep 0.2; echo two; exit 7",
      ]);
      expect(first, first.stderr).toMatchObject({ code: 7, stdout: "one\ntwo\n" });
      expect((await stat(join(app, "sallyport-token.json"))).mode & 0o777).toBe(0o600);
      expect(await program(process.execPath, ["example.mjs", daemon.url, "echo again"])).toMatchObject({
        code: 0,
        stdout: "again\n",
      });
    },
    slowMs,
  );
});
