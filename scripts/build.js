import { mkdir, readFile, rename, stat, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { bundlePage, compressPage, removeOldFiles } from "./build-page.js";
import { clientExports, isValue } from "./client-exports.js";

// Builds what the package ships: dist/sallyport.js (the program, one file), dist/client.js with its types, and dist/web (the
// page). `--without-types` leaves the types away, which take longer than all the rest. Every file is written
// beside its place and renamed, so that a daemon or a test that runs meanwhile reads the old or the new one, never half.

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const dist = join(root, "dist");
const { version } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
const define = { __SALLYPORT_VERSION__: JSON.stringify(version) };

/** Native or optional packages stay outside; they are loaded when first used, or not at all. */
const external = [
  "argon2",
  "@agentclientprotocol/sdk",
  "web-push",
  "bufferutil",
  "utf-8-validate",
  "pino-pretty",
  // Of Fastify, and never loaded: no route gives it a schema, and nobody injects requests.
  "@fastify/ajv-compiler",
  "@fastify/fast-json-stringify-compiler",
  "light-my-request",
];

/**
 * Parts of dependencies that are there for what this program never does, and that every start would pay for: 90 KB to
 * read, 18 ms. In their place stands as much as is called.
 */
const standIns = {
  // @fastify/rate-limit makes keys of IPv6 addresses by it; our keys are principals.
  "ip-address":
    'exports.Address6 = class { constructor() { throw new TypeError("an address was made a key of a rate limit"); } };',
  // Fastify compares a plugin's range with its own version. Both are pinned, and every test compares them.
  semver: "exports.satisfies = () => true;",
};

const withStandIns = {
  name: "stand-ins",
  setup({ onResolve, onLoad }) {
    const filter = new RegExp(`^(?:${Object.keys(standIns).join("|")})$`);
    onResolve({ filter }, ({ path }) => ({ path, namespace: "stand-in" }));
    onLoad({ filter: /.*/, namespace: "stand-in" }, ({ path }) => ({
      contents: standIns[path],
      loader: "js",
    }));
  },
};

const shebang = "#!/usr/bin/env node\n";

/** Dependencies in CommonJS call `require`, which an ES module has to make for itself. */
const banner = [
  'import { createRequire as createRequireOfBundle } from "node:module";',
  "const require = createRequireOfBundle(import.meta.url);",
].join("\n");

const common = {
  bundle: true,
  write: false,
  minify: true,
  legalComments: "none",
  logLevel: "silent",
  define,
};

async function buildProgram() {
  const entry = join(root, "src/cli/main.ts");
  await needed(entry);
  const { outputFiles } = await build({
    ...common,
    entryPoints: [entry],
    outfile: join(dist, "sallyport.js"),
    platform: "node",
    format: "esm",
    target: "node20",
    // Names stay readable in stack traces, which are all that a user can send us.
    minify: false,
    minifySyntax: true,
    minifyWhitespace: true,
    external,
    plugins: [withStandIns],
    banner: { js: banner },
  });
  // esbuild keeps a shebang of the entry above the banner; a second one would be a syntax error.
  for (const { path, text } of outputFiles)
    await place(path, text.startsWith("#!") ? text : shebang + text, 0o755);
}

/** What others import as `sallyport/client`; runs in Node and in browsers. */
async function buildClient() {
  const lines = Object.entries(clientExports).flatMap(([file, names]) => {
    const values = names.filter(isValue);
    return values.length === 0 ? [] : [`export { ${values.join(", ")} } from "./${file}";`];
  });
  const { outputFiles } = await build({
    ...common,
    stdin: { contents: lines.join("\n"), resolveDir: join(root, "src"), loader: "ts" },
    outfile: join(dist, "client.js"),
    platform: "neutral",
    format: "esm",
    target: ["es2022", "safari16.4"],
    minify: false,
    minifySyntax: true,
    // Loaded in a Node that has no WebSocket, and by nobody else.
    external: ["ws"],
  });
  for (const file of outputFiles) await place(file.path, file.contents);
}

async function buildClientTypes() {
  if (process.argv.includes("--without-types")) return;
  const { clientTypes } = await import("./client-types.js");
  await place(join(dist, "client.d.ts"), clientTypes(root));
}

async function buildPage() {
  const folder = join(dist, "web");
  const files = await bundlePage({ root, version });
  // index.html names the others, so it comes last.
  for (const [path, contents] of await compressPage(files)) await place(join(folder, path), contents);
  for (const [path, contents] of files) await place(join(folder, path), contents);
  await removeOldFiles(folder, files, !process.argv.includes("--without-types"));
}

async function place(path, contents, mode = 0o644) {
  await mkdir(dirname(path), { recursive: true });
  const temporary = `${path}.${process.pid}.tmp`;
  await writeFile(temporary, contents, { mode });
  await rename(temporary, path);
}

async function needed(path) {
  if (!(await stat(path).catch(() => null))) throw new Error(`${relative(root, path)} is missing`);
}

const results = await Promise.allSettled([buildProgram(), buildClient(), buildClientTypes(), buildPage()]);
for (const result of results) {
  if (result.status === "fulfilled") continue;
  process.exitCode = 1;
  const errors = result.reason.errors ?? [];
  if (errors.length === 0) process.stderr.write(`build: ${result.reason.message}\n`);
  for (const { text, location } of errors) {
    const where = location ? `${location.file}:${location.line}:${location.column}: ` : "";
    process.stderr.write(`build: ${where}${text}\n`);
  }
}
