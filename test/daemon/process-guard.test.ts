import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isLostOutput } from "../../src/daemon/process-guard.ts";

const source = new URL("../../src/daemon/process-guard.ts", import.meta.url).pathname;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "sallyport-guard-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Runs a guarded program; yields its exit code and what it logged. */
async function run(body: string) {
  const outfile = join(folder, `${Buffer.from(body).toString("hex").slice(0, 40)}.mjs`);
  await build({
    stdin: {
      contents: `import { guardProcess } from ${JSON.stringify(source)};
const log = { error: (fields, message) => process.stderr.write(message + ": " + fields.err.message + "\\n") };
guardProcess(log, () => process.exit(1));
${body}`,
      resolveDir: folder,
    },
    bundle: true,
    platform: "node",
    format: "esm",
    outfile,
    logLevel: "error",
  });
  const child = spawn(process.execPath, [outfile], { stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  child.stderr.on("data", (chunk) => {
    said += chunk;
  });
  return { child, ended: once(child, "close").then(([code]) => ({ code, said })) };
}

describe("guardProcess", () => {
  it.each(['setImmediate(() => { throw new Error("broken"); });', 'Promise.reject(new Error("broken"));'])(
    "logs and ends with 1: %s",
    async (body) => {
      const { ended } = await run(`${body} setInterval(() => 1, 1000);`);
      expect(await ended).toMatchObject({ code: 1, said: expect.stringContaining("broken") });
    },
  );

  it("goes on when its output is gone", async () => {
    const { child, ended } = await run(
      'setTimeout(() => process.exit(7), 300); setInterval(() => process.stdout.write("x".repeat(100000)), 10);',
    );
    child.stdout.destroy();
    expect((await ended).code).toBe(7);
  });
});

describe("isLostOutput", () => {
  it.each([
    [Object.assign(new Error("x"), { code: "EPIPE", syscall: "write" }), true],
    [Object.assign(new Error("x"), { code: "ECONNRESET", syscall: "read" }), false],
    [new Error("x"), false],
    ["EPIPE", false],
  ])("of %s is %s", (error, expected) => {
    expect(isLostOutput(error)).toBe(expected);
  });
});
