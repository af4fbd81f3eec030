import { readdir, readFile, rm, stat } from "node:fs/promises";
import { join, relative } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import { build as esbuild } from "esbuild";
import { build as vite } from "vite";

// The page: one entry with what the first view needs, a file for every lazily loaded part, each named by what it holds, so
// that browsers keep it for ever; and `worker.js`, whose name never changes and which knows the files of the shell.

const browsers = ["es2022", "safari16.4"];
const assetFolder = "assets";
/** Another build may be under way, or a daemon may be reading: files that no longer belong stay this long. */
const keepOldMs = 10 * 60_000;

/**
 * Bundles the page. Writes nothing.
 *
 * @param {{ root: string, version: string, minify?: boolean }} options `root` of the repository
 * @returns {Promise<Map<string, Uint8Array>>} contents by path below the page's folder; `index.html` comes last
 */
export async function bundlePage({ root, version, minify = true }) {
  const source = join(root, "web");
  const define = { __SALLYPORT_VERSION__: JSON.stringify(version) };
  const bundle = await vite({
    root: source,
    base: "./",
    configFile: false,
    envDir: false,
    publicDir: join(source, "static"),
    logLevel: "silent",
    define,
    plugins: [withoutNodeSocket],
    oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
    build: {
      write: false,
      target: browsers,
      minify,
      cssMinify: minify,
      assetsDir: assetFolder,
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      reportCompressedSize: false,
      rollupOptions: { input: join(source, "index.html") },
    },
  });
  const files = new Map();
  for (const file of bundle.output)
    if (file.fileName !== "index.html")
      files.set(file.fileName, bytesOf(file.type === "chunk" ? file.code : file.source));
  for (const name of await readdir(join(source, "static")))
    files.set(name, await readFile(join(source, "static", name)));
  const html = bytesOf(bundle.output.find(({ fileName }) => fileName === "index.html").source);
  const shell = shellFiles(bundle.output, html);
  files.set("worker.js", await bundleWorker({ source, shell, files, html, define, minify }));
  files.set("index.html", html);
  return files;
}

/**
 * The files that the page needs before anything is chosen on it: what index.html names, and what those import.
 *
 * @returns {string[]} paths below the page's folder, `index.html` not among them
 */
export function shellFiles(output, html) {
  const named = [
    ...Buffer.from(html)
      .toString("utf8")
      .matchAll(/(?:src|href)="\.\/([^"]+)"/g),
  ].map(([, path]) => path);
  const chunks = new Map(
    output.filter(({ type }) => type === "chunk").map((chunk) => [chunk.fileName, chunk]),
  );
  const found = new Set(named);
  for (const path of found) for (const next of chunks.get(path)?.imports ?? []) found.add(next);
  return [...found].sort();
}

/** Compressed once here, and not by the daemon for each start: `.br` and `.gz` beside what shrinks. */
export async function compressPage(files) {
  const compressed = new Map();
  await Promise.all(
    [...files].map(async ([path, contents]) => {
      if (!/\.(?:js|css|html|svg|webmanifest|json)$/.test(path) || contents.length < 1_024) return;
      const params = {
        [constants.BROTLI_PARAM_QUALITY]: 9,
        [constants.BROTLI_PARAM_SIZE_HINT]: contents.length,
      };
      compressed.set(`${path}.br`, await promisify(brotliCompress)(contents, { params }));
      compressed.set(`${path}.gz`, await promisify(gzip)(contents, { level: 9 }));
    }),
  );
  return compressed;
}

/** Removes what an earlier build left in `folder`; young files only when `now`. */
export async function removeOldFiles(folder, files, now) {
  for (const name of await readdir(join(folder, assetFolder)).catch(() => [])) {
    const path = join(folder, assetFolder, name);
    // What is compressed stays and goes with what it was made of.
    if (
      files.has(
        relative(folder, path)
          .replaceAll("\\", "/")
          .replace(/\.(?:br|gz)$/, ""),
      )
    )
      continue;
    const found = await stat(path).catch(() => null);
    if (found && (now || found.mtimeMs < Date.now() - keepOldMs)) await rm(path, { force: true });
  }
}

/** The client library can run in a Node without a WebSocket; a browser has one. */
const withoutNodeSocket = {
  name: "without-node-socket",
  enforce: "pre",
  resolveId: (id) => (id === "ws" ? "\0ws" : null),
  load: (id) => (id === "\0ws" ? "export {};" : null),
};

async function bundleWorker({ source, shell, files, html, define, minify }) {
  const entry = join(source, "worker", "worker.ts");
  if (!(await stat(entry).catch(() => null))) return bytesOf("");
  const hash = await fingerprint(shell.map((path) => [path, files.get(path)]).concat([["index.html", html]]));
  const { outputFiles } = await esbuild({
    entryPoints: [entry],
    bundle: true,
    write: false,
    format: "iife",
    platform: "browser",
    target: browsers,
    minify,
    legalComments: "none",
    logLevel: "silent",
    define: { ...define, __SHELL_FILES__: JSON.stringify(shell), __SHELL_HASH__: JSON.stringify(hash) },
  });
  return outputFiles[0].contents;
}

async function fingerprint(entries) {
  const { createHash } = await import("node:crypto");
  const hash = createHash("sha256");
  for (const [path, contents] of entries)
    hash
      .update(path)
      .update("\0")
      .update(contents ?? "");
  return hash.digest("hex").slice(0, 16);
}

function bytesOf(contents) {
  return typeof contents === "string" ? Buffer.from(contents) : contents;
}
