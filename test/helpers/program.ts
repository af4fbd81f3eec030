import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { build } from "esbuild";
import { bundlePage } from "../../scripts/build-page.js";

const repository = new URL("../../", import.meta.url).pathname;
const cache = join(repository, "node_modules", ".cache", "sallyport-test");
let made: Promise<string> | null = null;

/**
 * The command line as one JavaScript file, made from the sources as they are now. Kept by what the sources hold, so that
 * test files that run at the same time, or again, share one.
 */
export function programPath(): Promise<string> {
  made ??= make();
  return made;
}

async function make(): Promise<string> {
  const folder = join(cache, await fingerprint());
  const program = join(folder, "sallyport.js");
  if (existsSync(program)) return program;
  await mkdir(cache, { recursive: true });
  const temporary = `${folder}.${process.pid}`;
  const { version } = JSON.parse(await readFile(join(repository, "package.json"), "utf8"));
  await build({
    entryPoints: [join(repository, "src", "cli", "main.ts")],
    outfile: join(temporary, "sallyport.js"),
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    packages: "external",
    define: { __SALLYPORT_VERSION__: JSON.stringify(version) },
    logLevel: "error",
  });
  await buildPage(join(temporary, "web"), version);
  // Another test file may have been faster: its result is the same.
  await rename(temporary, folder).catch(() => rm(temporary, { recursive: true, force: true }));
  return program;
}

/** The page, as the build puts it beside the program. */
async function buildPage(outdir: string, version: string): Promise<void> {
  for (const [path, contents] of await bundlePage({ root: repository, version, minify: false })) {
    await mkdir(dirname(join(outdir, path)), { recursive: true });
    await writeFile(join(outdir, path), contents);
  }
}

async function fingerprint(): Promise<string> {
  const hash = createHash("sha256");
  for (const folder of ["src", "web"]) {
    const names = await readdir(join(repository, folder), { recursive: true });
    for (const name of names.sort()) {
      // A file that is being replaced at this moment belongs to the next fingerprint.
      const found = await stat(join(repository, folder, name)).catch(() => null);
      if (found?.isFile()) hash.update(`${folder}/${name} ${found.mtimeMs} ${found.size}\n`);
    }
  }
  return hash.digest("hex").slice(0, 24);
}
