import { mkdir, mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AxeBuilder } from "@axe-core/playwright";
import type { Browser, BrowserContext, BrowserContextOptions, Locator, Page } from "playwright-core";
import { expect } from "vitest";
import type { Snapshot } from "../../../src/protocol/changes.ts";
import { disposeDaemons, startTestDaemon, type TestDaemon } from "../../helpers/daemon.ts";
import { launchBrowser, viewports } from "../browser.ts";
import { goTo } from "./go-to.ts";

export interface StandOptions {
  /** Makes folders and files below `root`, and returns what `config.toml` says. `root/api` is the first tab's folder. */
  readonly prepare?: (root: string) => Promise<string>;
}
export interface OpenOptions extends BrowserContextOptions {
  readonly size?: keyof typeof viewports;
  readonly scopes?: readonly string[];
  /** Another address of the daemon than its own. */
  readonly base?: string;
  /** What the device is to be called. */
  readonly name?: string;
}

/** A real daemon and one real browser, with a profile of its own for each device. */
export interface Stand {
  readonly daemon: TestDaemon;
  readonly browser: Browser;
  readonly root: string;
  /** The first tab's folder. */
  readonly folder: string;
  command(body: object): Promise<Record<string, unknown>>;
  snapshot(): Promise<Snapshot>;
  /** A paired page at a place of the application. */
  open(at: string, options?: OpenOptions): Promise<Page>;
  /** A page that is not paired. */
  openBare(options?: OpenOptions): Promise<Page>;
  /** Closes all pages, and fails for what they complained of. */
  closePages(): Promise<void>;
  dispose(): Promise<void>;
}

export async function startStand({ prepare }: StandOptions = {}): Promise<Stand> {
  const root = await realpath(await mkdtemp(join(tmpdir(), "sallyport-stand-")));
  const folder = join(root, "api");
  await mkdir(folder);
  const config = (await prepare?.(root)) ?? "";
  const [browser, daemon] = await Promise.all([launchBrowser(), startTestDaemon({ cwd: folder, config })]);
  const contexts: BrowserContext[] = [];
  const complaints: string[] = [];

  const stand: Stand = {
    daemon,
    browser,
    root,
    folder,
    async command(body) {
      const answer = await daemon.request("POST", "/api/command", { body });
      if (answer.status >= 400) throw new Error(`${JSON.stringify(body)}: ${answer.text}`);
      return answer.json as Record<string, unknown>;
    },
    snapshot: async () => (await daemon.request("GET", "/api/snapshot")).json as Snapshot,
    async openBare({ size = "phone", scopes: _scopes, base: _base, name: _name, ...options } = {}) {
      const context = await browser.newContext({
        viewport: viewports[size],
        reducedMotion: "reduce",
        acceptDownloads: true,
        ...options,
      });
      contexts.push(context);
      const page = await context.newPage();
      page.setDefaultTimeout(60_000);
      page.on("pageerror", (error) => complaints.push(error.stack ?? error.message));
      page.on("console", (message) => {
        if (/Content Security Policy|TrustedScript/i.test(message.text())) complaints.push(message.text());
      });
      page.on("response", (response) => {
        if (response.status() !== 403) return;
        // A page that was closed has no bodies any more.
        response.text().then(
          (text) => text.includes("scope_missing") && complaints.push(`refused: ${response.url()}`),
          () => undefined,
        );
      });
      return page;
    },
    async open(at, options = {}) {
      const page = await stand.openBare(options);
      const { scopes, base = daemon.url, name } = options;
      const body = { ...(scopes && { scopes }), ...(name && { name }) };
      const { json } = await daemon.request("POST", "/api/pair/codes", { body });
      await page.goto(`${base}/#pair=${(json as { code: string }).code}`);
      await page.getByText("Live", { exact: true }).waitFor();
      await dismissToasts(page);
      await goTo(page, at);
      return page;
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
  return stand;
}

/** What is said for some seconds lies over the head of the page. */
export async function dismissToasts(page: Page): Promise<void> {
  const button = page.getByRole("button", { name: "Dismiss" }).first();
  while (await button.isVisible()) await button.click();
}

/** As it is now: nothing that axe complains of in both schemes, and nothing wider than 320 px or a phone with text of twice the size. */
export async function expectGoodForAll(page: Page): Promise<void> {
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    expect(await complaintsOf(page), colorScheme).toEqual([]);
  }
  const viewport = page.viewportSize() ?? viewports.phone;
  await page.setViewportSize({ width: 320, height: 568 });
  expect(await tooWide(page), "320 px").toEqual([]);
  await page.setViewportSize(viewports.phone);
  await setTextScale(page, "200%");
  expect(await tooWide(page), "twice the text").toEqual([]);
  await setTextScale(page, "");
  await page.setViewportSize(viewport);
}

/** What axe says of the page, or of the dialog alone that makes the rest of it inert. */
async function complaintsOf(page: Page): Promise<string[]> {
  const axe = new AxeBuilder({ page });
  const isModal = (await page.locator("dialog[open]").count()) > 0;
  const { violations } = await (isModal ? axe.include("dialog[open]") : axe).analyze();
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`);
}

async function setTextScale(page: Page, size: string): Promise<void> {
  await page.evaluate((fontSize) => {
    document.documentElement.style.fontSize = fontSize;
  }, size);
}

/** What can be moved sideways though it is no text that keeps its lines. */
function tooWide(page: Page): Promise<string[]> {
  return page.evaluate(() =>
    [document.documentElement, ...document.querySelectorAll("main, .page, .dialog, .dialog-content")]
      .filter((element) => element.checkVisibility() && element.scrollWidth > element.clientWidth + 1)
      .map((element) => {
        const right = element.getBoundingClientRect().left + element.clientWidth + 1;
        const culprits = [...element.querySelectorAll("*")]
          .filter((one) => one.getBoundingClientRect().right > right)
          .map((one) => `${one.tagName}.${one.getAttribute("class")}`);
        return `${element.className || element.tagName}: ${culprits.slice(0, 8).join(" ")}`;
      }),
  );
}

/** Goes forward by Tab alone until the focus is on it. */
export async function tabTo(page: Page, target: Locator): Promise<void> {
  for (let step = 0; step < 80; step += 1) {
    if (await target.evaluate((element) => element === document.activeElement)) return;
    await page.keyboard.press("Tab");
  }
  throw new Error("The keyboard does not reach it.");
}

/** Looks again until it holds; the machine may be busy with other things. */
export function poll<T>(look: () => T): ReturnType<typeof expect.poll<T>> {
  return expect.poll(look, { timeout: 60_000 });
}
