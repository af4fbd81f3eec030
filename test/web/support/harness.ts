import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { AxeBuilder } from "@axe-core/playwright";
import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import { expect } from "vitest";
import type { Snapshot } from "../../../src/protocol/changes.ts";
import { disposeDaemons, startTestDaemon, type TestDaemon } from "../../helpers/daemon.ts";
import { freePort } from "../../helpers/free-port.ts";
import { launchBrowser, viewports } from "../browser.ts";
import { goTo } from "./go-to.ts";

export interface Harness {
  readonly daemon: TestDaemon;
  /** The first tab's folder. */
  readonly folder: string;
  /** An agent that plays the script of this name. */
  startAgent(script: string, label?: string): Promise<string>;
  command(body: object): Promise<Record<string, unknown>>;
  snapshot(): Promise<Snapshot>;
  agentState(agent: string): Promise<string | undefined>;
  /** A paired page of its own browser profile, at a place of the application. */
  open(at: string, options?: OpenOptions): Promise<Page>;
  /** Stops the daemon; `start` brings it back at the same address. */
  stopDaemon(): Promise<void>;
  startDaemon(): Promise<void>;
  /** Closes all pages, and fails for what they complained of. */
  closePages(): Promise<void>;
  dispose(): Promise<void>;
}

export interface OpenOptions extends BrowserContextOptions {
  readonly scopes?: readonly string[];
  readonly size?: keyof typeof viewports;
}

export interface HarnessOptions {
  /** Scripts of the replay runtime, by name: steps, or lines as they are. */
  readonly scripts: Readonly<Record<string, readonly object[]>>;
  /** Files below the tab's folder, by path. */
  readonly files?: Readonly<Record<string, string>>;
}

/** A real daemon with the replay runtime, and a real browser. */
export async function startHarness({ scripts, files = {} }: HarnessOptions): Promise<Harness> {
  const root = await realpath(await mkdtemp(join(tmpdir(), "sallyport-conversation-")));
  const folder = join(root, "api");
  for (const [path, text] of Object.entries({ "README.md": "# api\n", ...files })) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
  const sections = await Promise.all(
    Object.entries(scripts).map(async ([name, steps]) => {
      const path = join(root, `${name}.jsonl`);
      await writeFile(path, steps.map((step) => JSON.stringify(step)).join("\n"));
      return `[replay.${name}]\nscript = "${path}"\n`;
    }),
  );
  const config = `${sections.join("")}[daemon]\nruntime = "replay"\nbrowse_root = "${root}"\n`;
  const start = (home?: string, port?: number): Promise<TestDaemon> =>
    startTestDaemon({ cwd: folder, config, ...(home && { home }), ...(port && { port }) });
  // A page that waits for its daemon goes on dialling.
  let daemon = await start(undefined, await freePort());
  const browser: Browser = await launchBrowser();
  const contexts: BrowserContext[] = [];
  const complaints: string[] = [];

  const harness: Harness = {
    get daemon() {
      return daemon;
    },
    folder,
    async startAgent(script, label = script) {
      const { agent } = await harness.command({
        type: "agent_start",
        runtime: "replay",
        model: script,
        label,
      });
      return String(agent);
    },
    async command(body) {
      const answer = await daemon.request("POST", "/api/command", { body });
      if (answer.status >= 400) throw new Error(`${JSON.stringify(body)}: ${answer.text}`);
      return answer.json as Record<string, unknown>;
    },
    snapshot: async () => (await daemon.request("GET", "/api/snapshot")).json as Snapshot,
    async agentState(agent) {
      const { workspace } = await harness.snapshot();
      return workspace.tabs.flatMap(({ agents }) => agents).find(({ id }) => id === agent)?.state;
    },
    async open(at, { scopes, size = "phone", ...options } = {}) {
      const context = await browser.newContext({
        viewport: viewports[size],
        reducedMotion: "reduce",
        ...options,
      });
      contexts.push(context);
      const page = await context.newPage();
      page.setDefaultTimeout(60_000);
      page.on("pageerror", (error) => complaints.push(error.stack ?? error.message));
      page.on("request", (request) => {
        const url = request.url();
        if (!url.startsWith(daemon.url) && !/^(?:data|blob):/.test(url)) complaints.push(`asked ${url}`);
      });
      page.on("console", (message) => {
        if (/Content Security Policy|TrustedScript/i.test(message.text())) complaints.push(message.text());
      });
      const { json } = await daemon.request("POST", "/api/pair/codes", { body: scopes ? { scopes } : {} });
      await page.goto(`${daemon.url}/#pair=${(json as { code: string }).code}`);
      await page.getByText("Live", { exact: true }).waitFor();
      // It lies over the head of the page for some seconds.
      await page.getByRole("button", { name: "Dismiss" }).first().click();
      await goTo(page, at);
      return page;
    },
    async stopDaemon() {
      await daemon.stop();
    },
    async startDaemon() {
      daemon = await start(daemon.home, daemon.port);
    },
    async closePages() {
      for (const context of contexts.splice(0)) await context.close();
      expect(complaints.splice(0)).toEqual([]);
    },
    async dispose() {
      await browser.close();
      await disposeDaemons();
      await rm(root, { recursive: true, force: true });
    },
  };
  return harness;
}

/** What axe has to say against the page as it is now. */
export async function violations(page: Page): Promise<string[]> {
  const result = await new AxeBuilder({ page }).analyze();
  return result.violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`);
}
