import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import chromium from "@sparticuz/chromium";
import { chromium as playwright } from "playwright-core";

// Pictures of the page, of a daemon that plays the scripts of examples/replay. After `npm run build`:
//
//   node scripts/screenshots.js          the pictures of the README, into docs/images
//   node scripts/screenshots.js FOLDER   every page at both sizes, light and dark, into FOLDER

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const sizes = { phone: { width: 390, height: 844 }, desk: { width: 1280, height: 800 } };
const [folder] = process.argv.slice(2);

const place = await mkdtemp(join(tmpdir(), "sallyport-pictures-"));
const home = join(place, "home");
const work = join(place, "src", "api");
await mkdir(home, { mode: 0o700 });
await mkdir(join(work, ".git"), { recursive: true });
await writeFile(join(work, ".git", "HEAD"), "ref: refs/heads/limits\n");
await writeFile(
  join(work, "package.json"),
  JSON.stringify({ name: "api", scripts: { lint: "echo 'Checked 214 files.'", test: "node test.mjs" } }),
);
await writeFile(
  join(work, "test.mjs"),
  `for (const name of ["auth", "engine", "gateway", "jobs", "pairing", "tunnel", "web"])
  console.log(" \\x1b[32m✓\\x1b[0m test/" + name + ".test.ts \\x1b[2m(42 tests)\\x1b[0m");
console.log(" \\x1b[31m✗\\x1b[0m test/push.test.ts\\n   \\x1b[31mexpected 3 to be 4\\x1b[0m");
setTimeout(() => {}, 600_000);
`,
);
const spending = join(place, "spending.jsonl");
await writeFile(
  spending,
  `${JSON.stringify({ type: "usage", input_tokens: 15_200, output_tokens: 2_840, cache_read_tokens: 41_000, cost: 0.143 })}\n`,
);
const scripts = ["tour", "features"].map(
  (name) => `[replay.${name}]\nscript = "${join(root, "examples", "replay", `${name}.jsonl`)}"\n`,
);
await writeFile(
  join(home, "config.toml"),
  `${scripts.join("")}[replay.m-large]\nscript = "${spending}"\n[daemon]\nbrowse_root = "${join(place, "src")}"\n`,
  { mode: 0o600 },
);
const daemon = spawn(
  process.execPath,
  [join(root, "dist", "sallyport.js"), "daemon", "run", "--home", home, "--port", "0"],
  { cwd: work, stdio: ["ignore", "ignore", "inherit"] },
);
const ended = once(daemon, "exit");

try {
  const { url, token } = await daemonFile();
  await take(url, token);
} finally {
  daemon.kill("SIGTERM");
  await ended;
  await rm(place, { recursive: true, force: true, maxRetries: 3 });
}

async function daemonFile() {
  for (let tries = 0; tries < 400; tries++) {
    const text = await readFile(join(home, "daemon.json"), "utf8").catch(() => null);
    if (text !== null) return JSON.parse(text);
    if (daemon.exitCode !== null) break;
    await delay(50);
  }
  throw new Error("The daemon did not start. Run `npm run build` first.");
}

async function take(url, token) {
  const call = async (method, path, body) => {
    const response = await fetch(url + path, {
      method,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      ...(body && { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${method} ${path}: ${await response.text()}`);
    return response.json();
  };
  const command = (body) => call("POST", "/api/command", body);
  const until = async (isThere) => {
    for (let tries = 0; tries < 200; tries++) {
      const snapshot = await call("GET", "/api/snapshot");
      if (isThere(snapshot)) return snapshot;
      await delay(100);
    }
    throw new Error("It did not come to that.");
  };

  const talk = async (model, text) => {
    const { agent } = await command({ type: "agent_start", runtime: "replay", model });
    await command({ type: "prompt", agent, text });
    return agent;
  };
  await command({ type: "tab_create", cwd: work, name: "api" });
  await talk("m-large", "Sum up the open issues");
  await command({ type: "prompt", text: "npm run deploy -- --to staging" });
  const { job } = await command({ type: "job_start", command: "npm test" });
  await command({ type: "job_start", command: "npm run lint" });
  const { pending } = await until((snapshot) => snapshot.pending.length > 0 && snapshot.jobs.length > 1);

  process.env.AWS_EXECUTION_ENV ??= "AWS_Lambda_nodejs20.x";
  const browser = await playwright.launch({
    executablePath: await chromium.executablePath(),
    args: ["--no-sandbox", "--disable-gpu", "--headless=shell", "--hide-scrollbars"],
  });
  const open = async (size, colorScheme) => {
    const page = await browser.newPage({
      viewport: sizes[size],
      deviceScaleFactor: size === "phone" ? 2 : 1,
      colorScheme,
      reducedMotion: "reduce",
    });
    const { code } = await call("POST", "/api/pair/codes", {});
    await page.goto(`${url}/#pair=${code}`);
    await page.getByText("Live", { exact: true }).waitFor();
    for (const button of await page.getByRole("button", { name: "Dismiss" }).all()) await button.click();
    return page;
  };
  const show = async (page, at) => {
    await page.goto(`${url}/#${at}`);
    await page.waitForFunction(
      () => document.querySelector("main h1") && !document.querySelector(".spinner"),
    );
    // Answers are guarded for a moment against a tap that was meant for something else.
    await delay(1_500);
  };
  const shoot = async (page, path) => {
    const devTools = await page.context().newCDPSession(page);
    const format = path.endsWith(".webp") ? { format: "webp", quality: 80 } : { format: "png" };
    const { data } = await devTools.send("Page.captureScreenshot", format);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, Buffer.from(data, "base64"));
    process.stdout.write(`${path}\n`);
  };

  try {
    if (folder === undefined) await takeForReadme();
    else await takeAll(resolve(folder));
  } finally {
    await browser.close();
    await command({ type: "job_kill", job: job.id });
  }

  async function takeForReadme() {
    const images = join(root, "docs", "images");
    const phone = await open("phone", "light");
    await show(phone, `/approvals/${pending[0].request_id}`);
    await shoot(phone, join(images, "phone-approval.webp"));
    await show(phone, `/jobs/${job.id}`);
    await shoot(phone, join(images, "phone-job.webp"));
    const conversation = await converse();
    const desk = await open("desk", "dark");
    await show(desk, `/agent/${conversation}`);
    await shoot(desk, join(images, "desk.webp"));
  }

  /** One that waits for answers; its agent. */
  async function converse() {
    const agent = await talk("features", "Move the store to sqlite");
    await until(({ questions }) => questions.length > 0);
    return agent;
  }

  async function takeAll(target) {
    const conversation = await converse();
    const places = {
      work: "/",
      conversation: `/agent/${conversation}`,
      approvals: "/approvals",
      jobs: "/jobs",
      job: `/jobs/${job.id}`,
      sessions: "/sessions",
      usage: "/usage",
      remote: "/remote",
      settings: "/settings",
      about: "/about",
      more: "/more",
    };
    for (const size of Object.keys(sizes))
      for (const scheme of ["light", "dark"]) {
        const page = await open(size, scheme);
        for (const [name, at] of Object.entries(places)) {
          await show(page, at);
          await shoot(page, join(target, `${name}-${size}-${scheme}.png`));
        }
        await page.close();
      }
  }
}
