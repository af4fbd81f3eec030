import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

// Installs coding agents of others into a temporary folder, one after the other, and tries each through a real daemon
// with a model on loopback: `npm run test:agents`, or `npm run test:agents -- gemini codex`. `--write` puts the results
// into docs/agents.md. What is installed is kept for the next run; `--clean` removes it.

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const base = join(tmpdir(), "sallyport-agents");
const page = join(root, "docs", "agents.md");

const words = process.argv.slice(2);
const flags = new Set(words.filter((word) => word.startsWith("--")));
const { testedAgents, features } = await loadTable();
const names = words.filter((word) => !word.startsWith("--"));
const chosen = names.length > 0 ? names : Object.keys(testedAgents);

const results = {};
for (const name of chosen) {
  const agent = testedAgents[name];
  if (!agent)
    throw new Error(`there is no agent ${name}; there are: ${Object.keys(testedAgents).join(", ")}`);
  const folder = join(base, `${name}-${agent.version}`);
  await install(agent, folder);
  results[name] = await tryAgent(name, folder);
  console.log(rowOf(name, results[name]));
}
console.log(`\n${tableOf(results)}\n`);
if (flags.has("--write")) await writeTable(results);
if (flags.has("--clean")) await rm(base, { recursive: true, force: true });
process.exitCode = Object.values(results).every((each) => Object.values(each).every(({ ok }) => ok !== false))
  ? 0
  : 1;

/** The table of agents is TypeScript, shared with the trials. */
async function loadTable() {
  const outfile = join(root, "node_modules", ".cache", "sallyport-test", "tested-agents.mjs");
  await build({
    entryPoints: [join(root, "test", "agents", "agents.ts")],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    logLevel: "error",
  });
  return import(outfile);
}

async function install(agent, folder) {
  if (existsSync(join(folder, "node_modules", ".package-lock.json"))) return;
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "package.json"), '{"private":true}\n');
  const scripts = agent.needsScripts ? [] : ["--ignore-scripts"];
  await run("npm", ["install", "--no-audit", "--no-fund", ...scripts, `${agent.package}@${agent.version}`], {
    cwd: folder,
  });
}

async function tryAgent(name, folder) {
  const outputFile = join(base, `${name}.json`);
  await rm(outputFile, { force: true });
  const { lacks } = testedAgents[name];
  await run(
    process.execPath,
    [
      join(root, "node_modules", "vitest", "vitest.mjs"),
      "run",
      "--maxWorkers=1",
      "--reporter=default",
      "--reporter=json",
      `--outputFile.json=${outputFile}`,
    ],
    {
      cwd: root,
      env: { ...process.env, SALLYPORT_TEST_AGENT: name, SALLYPORT_TEST_AGENT_FOLDER: folder },
    },
  ).catch((error) => console.error(error.message));
  const report = JSON.parse(await readFile(outputFile, "utf8"));
  const tests = report.testResults.flatMap(({ assertionResults }) => assertionResults);
  return Object.fromEntries(
    features.map((feature) => {
      if (lacks[feature] !== undefined) return [feature, { ok: null, note: lacks[feature] }];
      return [feature, { ok: tests.find(({ title }) => title === feature)?.status === "passed" }];
    }),
  );
}

function rowOf(name, result) {
  const { title, version } = testedAgents[name];
  const cells = features.map((feature) => ({ true: "yes", false: "**no**", null: "–" })[result[feature].ok]);
  return `| ${title} ${version} | ${cells.join(" | ")} |`;
}

function tableOf(all) {
  return [
    `| agent | ${features.join(" | ")} |`,
    `|---|${features.map(() => "---").join("|")}|`,
    ...Object.entries(all).map(([name, result]) => rowOf(name, result)),
  ].join("\n");
}

/** Replaces the rows of the agents that were tried; those of others stay. */
async function writeTable(all) {
  const text = await readFile(page, "utf8");
  const [begin, end] = ["<!-- results -->", "<!-- /results -->"];
  const from = text.indexOf(begin) + begin.length;
  const to = text.indexOf(end);
  if (from < begin.length || to < from) throw new Error(`${page} has no place for the results`);
  const before = text.slice(from, to).trim().split("\n");
  const rows = tableOf(all).split("\n");
  const isTried = (row) => chosen.some((name) => row.startsWith(`| ${testedAgents[name].title} `));
  const kept = before.slice(2).filter((row) => row.startsWith("| ") && !isTried(row));
  const merged = [...rows.slice(0, 2), ...[...kept, ...rows.slice(2)].sort()];
  await writeFile(page, `${text.slice(0, from)}\n${merged.join("\n")}\n${text.slice(to)}`);
}

function run(command, args, options) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: "inherit", ...options });
    child.once("error", reject);
    child.once("exit", (code) =>
      code === 0 ? resolve() : reject(new Error(`${command} ended with ${code}`)),
    );
  });
}
