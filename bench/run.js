import { spawn, spawnSync } from "node:child_process";
import { cp, mkdir, readdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

// Builds the package and the bench, then runs all rows, or those that are named: npm run bench -- gate fan-out
// What is measured is a copy of dist, so that a build meanwhile does not change it.

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const cache = join(root, "node_modules", ".cache", `sallyport-bench-${process.pid}`);
const names = process.argv.slice(2);

const built = spawnSync(process.execPath, [join(root, "scripts/build.js")], { stdio: "inherit" });
if (built.status !== 0) process.exit(1);
await mkdir(cache, { recursive: true });
await cp(join(root, "dist"), join(cache, "dist"), { recursive: true });

const children = await readdir(join(root, "bench/children"));
await build({
  entryPoints: [join(root, "bench/main.ts"), ...children.map((name) => join(root, "bench/children", name))],
  outdir: join(cache, "bench"),
  outbase: join(root, "bench"),
  outExtension: { ".js": ".mjs" },
  bundle: true,
  platform: "node",
  format: "esm",
  target: "node20",
  packages: "external",
  define: { __SALLYPORT_VERSION__: JSON.stringify("0.0.0-bench") },
  logLevel: "error",
});

const bench = spawn(process.execPath, ["--enable-source-maps", join(cache, "bench/main.mjs"), ...names], {
  stdio: "inherit",
  cwd: root,
});
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => bench.kill(signal));
bench.on("exit", async (code) => {
  process.exitCode = code ?? 1;
  await rm(cache, { recursive: true, force: true });
});
