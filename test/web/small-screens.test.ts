import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, BrowserContext, Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { disposeDaemons } from "../helpers/daemon.ts";
import { launchBrowser, viewports } from "./browser.ts";
import { type SeededDaemon, startSeededDaemon } from "./seeded-daemon.ts";

let browser: Browser;
let seeded: SeededDaemon;
let folder: string;
let context: BrowserContext | undefined;

beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "sallyport-small-")));
  [browser, seeded] = await Promise.all([launchBrowser(), startSeededDaemon(folder)]);
}, 120_000);
afterAll(async () => {
  await browser?.close();
  await disposeDaemons();
  await rm(folder, { recursive: true, force: true });
});
afterEach(() => context?.close());

async function open(viewport: { width: number; height: number }, at: string, from = browser): Promise<Page> {
  context = await from.newContext({ viewport, reducedMotion: "reduce" });
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  await page.goto(await seeded.pairingLink());
  await page.getByText("Live", { exact: true }).waitFor();
  await page.evaluate((to) => {
    location.hash = to;
  }, at);
  return page;
}
async function boxOf(element: Locator) {
  await element.waitFor();
  const box = await element.boundingBox();
  if (box === null) throw new Error("It is not shown.");
  return { ...box, right: box.x + box.width, bottom: box.y + box.height };
}
const smallTargets = (page: Page) =>
  page.evaluate(() =>
    [...document.querySelectorAll<HTMLElement>("a, button, input, textarea")]
      .filter((element) => element.checkVisibility() && !element.closest(".unseen, .segments"))
      .filter((element) => getComputedStyle(element).display !== "inline")
      .map((element) => ({ box: element.getBoundingClientRect(), html: element.outerHTML.slice(0, 120) }))
      .filter(({ box }) => box.width > 1 && box.bottom > 0 && (box.height < 43.5 || box.width < 43.5))
      .map(({ box, html }) => `${box.width} x ${box.height}: ${html}`),
  );

describe.each([
  ["568 x 320", { width: 568, height: 320 }],
  ["667 x 375", { width: 667, height: 375 }],
  ["932 x 430", { width: 932, height: 430 }],
])("a phone that lies on its side, %s", (_title, viewport) => {
  it("gives half of its height and more to the output of a job", async () => {
    const page = await open(viewport, `/jobs/${seeded.job}`);
    const log = await boxOf(page.getByRole("region", { name: "Output" }));
    expect(log.height).toBeGreaterThan(viewport.height / 2);
    expect(await smallTargets(page)).toEqual([]);
    // All pages can be reached without moving anything.
    for (const name of ["Work", "Approvals", "Jobs", "Sessions", "More"]) {
      const link = await boxOf(page.getByRole("link", { name: new RegExp(`^${name}`) }).first());
      expect(link.bottom, name).toBeLessThanOrEqual(viewport.height);
    }
  }, 60_000);

  it("shows of a conversation more than its bars", async () => {
    const page = await open(viewport, `/agent/${seeded.agent}`);
    const rows = await boxOf(page.locator(".virtual-scroll"));
    const text = await boxOf(page.locator(".composer-text"));
    expect(rows.height).toBeGreaterThan(viewport.height * 0.4);
    expect(text.bottom).toBeLessThanOrEqual(viewport.height);
    expect(await smallTargets(page)).toEqual([]);
    // Nothing changes its place when one begins to write.
    await page.locator(".composer-text").focus();
    expect((await boxOf(page.locator(".composer-text"))).x).toBe(text.x);
  }, 60_000);

  it("keeps the buttons of a dialog in sight", async () => {
    const page = await open(viewport, "/");
    await page.getByRole("button", { name: "Open a folder" }).click();
    const button = await boxOf(page.getByRole("dialog").getByRole("button", { name: /^Open / }));
    expect(button.bottom).toBeLessThanOrEqual(viewport.height);
  }, 60_000);
});

describe("what is said for some seconds", () => {
  it("lies above the bars of a phone, and not on the head of the page", async () => {
    const page = await open(viewports.phone, "/");
    const toast = await boxOf(page.locator(".toast"));
    const head = await boxOf(page.locator("main .page-head"));
    const bar = await boxOf(page.getByRole("navigation", { name: "Pages" }).last());
    expect(toast.y).toBeGreaterThan(head.bottom);
    expect(toast.bottom).toBeLessThanOrEqual(bar.y);
  }, 60_000);

  it("does not lie on the line in which one writes", async () => {
    const page = await open(viewports.phone, `/agent/${seeded.agent}`);
    const composer = await boxOf(page.locator(".composer"));
    expect((await boxOf(page.locator(".toast"))).bottom).toBeLessThanOrEqual(composer.y);
  }, 60_000);
});

describe("text of twice the size on a phone", () => {
  it("breaks no word of an answer, and hides no word under a button", async () => {
    const large = await launchBrowser(["--blink-settings=defaultFontSize=32"]);
    try {
      const page = await open(viewports.phone, "/jobs", large);
      const words = await boxOf(page.locator(".approvals-bar-words"));
      const review = await boxOf(page.locator(".approvals-bar-open"));
      expect(words.right).toBeLessThanOrEqual(review.x);
      await page.locator(".approvals-bar").click();
      for (const name of ["Deny", "Allow once"]) {
        const button = page.getByRole("dialog").getByRole("button", { name, exact: true }).first();
        const lines = await button.locator("span").evaluate((span) => span.getClientRects().length);
        expect(lines, name).toBe(1);
      }
    } finally {
      await context?.close();
      await large.close();
    }
  }, 60_000);
});

describe("a wide desk", () => {
  it("shows what waits once on the page that is for it", async () => {
    const page = await open({ width: 1440, height: 900 }, "/approvals");
    await page.getByRole("button", { name: "Allow once", exact: true }).first().waitFor();
    await page.getByRole("button", { name: "Allow once", exact: true }).first().waitFor();
    await page.getByRole("heading", { name: "Jobs", exact: true }).waitFor();
    expect(await page.getByRole("button", { name: "Allow once", exact: true }).count()).toBe(1);
  }, 60_000);
});
