import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AxeBuilder } from "@axe-core/playwright";
import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { pages } from "../../web/routes/pages.ts";
import { disposeDaemons } from "../helpers/daemon.ts";
import { launchBrowser, viewports } from "./browser.ts";
import { type SeededDaemon, startSeededDaemon } from "./seeded-daemon.ts";
import { goTo } from "./support/go-to.ts";

let browser: Browser;
let seeded: SeededDaemon;
let folder: string;
let context: BrowserContext;
let page: Page;
let complaints: string[];

beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "sallyport-axe-")));
  [browser, seeded] = await Promise.all([launchBrowser(), startSeededDaemon(folder)]);
}, 120_000);
afterAll(async () => {
  await browser?.close();
  await disposeDaemons();
  await rm(folder, { recursive: true, force: true });
});
beforeEach(() => {
  complaints = [];
});
afterEach(async () => {
  await context.close();
  expect(complaints).toEqual([]);
});

async function open(options: BrowserContextOptions = {}, from = browser): Promise<void> {
  context = await from.newContext({ viewport: viewports.phone, ...options });
  page = await context.newPage();
  page.setDefaultTimeout(60_000);
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("console", (message) => {
    // What the browser says of a request that failed is the point of some tests; of a policy it must say nothing.
    if (/Content Security Policy|TrustedScript|deprecated/i.test(message.text()))
      complaints.push(message.text());
  });
}
async function openPaired(options: BrowserContextOptions = {}, from = browser): Promise<void> {
  await open(options, from);
  await page.goto(await seeded.pairingLink());
  await page.getByText("Live", { exact: true }).waitFor();
  // The page itself comes in a file of its own.
  await page.locator("main h1").first().waitFor();
}

const addresses = (): string[] => [
  ...pages.map(({ path }) => path.replace(":agent", seeded.agent).replace(/\/:\w+\?/, "")),
  `/jobs/${seeded.job}`,
  "/more",
  "/nothing",
];
const heading = () => page.locator("main h1").first().textContent();

async function violations(): Promise<string[]> {
  const result = await new AxeBuilder({ page }).analyze();
  return result.violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`);
}
/** What can be moved sideways, and what makes it so; empty where nothing can. */
const overflow = () =>
  page.evaluate(() => {
    const boxes = [document.documentElement, ...document.querySelectorAll("main, .page")];
    const wide = boxes.filter((box) => box.scrollWidth > box.clientWidth);
    if (wide.length === 0) return [];
    return [...document.querySelectorAll("main *")]
      .filter((element) => element.getBoundingClientRect().right > innerWidth && !element.closest("pre"))
      .map((element) => element.outerHTML.slice(0, 120));
  });

async function visitAll(visit: (address: string) => Promise<void>): Promise<void> {
  for (const address of addresses()) {
    await goTo(page, address || "/");
    await visit(address);
  }
}

describe("every page", () => {
  it.each([
    ["a phone", "phone", "light"],
    ["a phone in the dark", "phone", "dark"],
    ["a desk", "desk", "light"],
    ["a desk in the dark", "desk", "dark"],
  ] as const)(
    "has nothing on %s that axe complains about, and a title of its own",
    async (_title, size, colorScheme) => {
      await openPaired({ viewport: viewports[size], colorScheme, reducedMotion: "reduce" });
      const titles = new Map<string, string>();
      await visitAll(async (address) => {
        expect(await violations(), address).toEqual([]);
        await expect.poll(() => page.title()).toContain((await heading()) ?? "no heading");
        titles.set(address, await page.title());
      });
      expect(new Set(titles.values()).size).toBeGreaterThanOrEqual(pages.length);
    },
    180_000,
  );

  it.each([
    ["320 px wide", { width: 320, height: 568 }],
    ["on a phone", viewports.phone],
    ["on a tablet", { width: 900, height: 700 }],
    ["on a wide desk", { width: 2200, height: 1100 }],
  ])(
    "fits without moving sideways: %s",
    async (_title, viewport) => {
      await openPaired({ viewport });
      await visitAll(async (address) => expect(await overflow(), address).toEqual([]));
    },
    120_000,
  );

  it.each(["phone", "desk"] as const)(
    "fits with text of twice the size on a %s",
    async (size) => {
      const large = await launchBrowser(["--blink-settings=defaultFontSize=32"]);
      try {
        await openPaired({ viewport: viewports[size] }, large);
        expect(await page.evaluate(() => getComputedStyle(document.body).fontSize)).toBe("32px");
        await visitAll(async (address) => expect(await overflow(), address).toEqual([]));
      } finally {
        await large.close();
      }
    },
    120_000,
  );

  it("has nothing to touch that is smaller than 44 px on a phone", async () => {
    await openPaired({ hasTouch: true, isMobile: true });
    await visitAll(async (address) => {
      const small = await page.evaluate(() =>
        [...document.querySelectorAll<HTMLElement>("a, button, input, select, textarea, summary")]
          .filter((element) => element.checkVisibility() && !element.closest(".unseen, .segments"))
          // A link within a sentence is as high as its line.
          .filter((element) => getComputedStyle(element).display !== "inline")
          .map((element) => ({
            // All of a label can be touched, not the box in it alone.
            box: (element.closest("label") ?? element).getBoundingClientRect(),
            html: element.outerHTML.slice(0, 120),
          }))
          .filter(({ box }) => box.width > 1 && box.bottom > 0 && (box.height < 43.5 || box.width < 43.5))
          .map(({ box, html }) => `${box.width} x ${box.height}: ${html}`),
      );
      expect(small, address).toEqual([]);
    });
  }, 120_000);
});

describe("before it is paired", () => {
  it.each(["phone", "desk"] as const)(
    "the page has nothing on a %s that axe complains about",
    async (size) => {
      await open({ viewport: viewports[size], reducedMotion: "reduce" });
      await page.goto(seeded.daemon.url);
      await page.getByLabel("Pairing code").fill("abc");
      await page.keyboard.press("Enter");
      await page.getByRole("alert").first().waitFor();
      expect(await violations()).toEqual([]);
      await page.route("**/api/hello", (route) => route.abort());
      await page.reload();
      await page.getByRole("heading", { name: "The daemon does not answer" }).waitFor();
      expect(await violations()).toEqual([]);
    },
  );
});

describe("the keyboard", () => {
  it("reaches the content past the navigation, and moves the focus with the page", async () => {
    await openPaired({ viewport: viewports.desk });
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe("main");
    await page.getByRole("link", { name: "Jobs", exact: true }).click();
    await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toBe("Jobs");
  });

  it("opens pages by two keys, but not while something is written", async () => {
    await openPaired({ viewport: viewports.desk });
    await page.keyboard.press("g");
    await page.keyboard.press("s");
    await expect.poll(heading).toBe("Sessions");
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox").pressSequentially("gj?");
    expect(await heading()).toBe("Sessions");
    expect(await page.getByRole("combobox").inputValue()).toBe("gj?");
  });

  it("finds everything in the palette, and gives the focus back", async () => {
    await openPaired({ viewport: viewports.desk });
    await page.getByRole("link", { name: "Usage" }).focus();
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox").fill("settings");
    await page.getByRole("option", { name: /Go to Settings/ }).waitFor();
    expect(await violations()).toEqual([]);
    await page.keyboard.press("Enter");
    await expect.poll(heading).toBe("Settings");
    await page.getByRole("link", { name: "Usage" }).focus();
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("combobox").waitFor({ state: "detached" });
    expect(await page.evaluate(() => document.activeElement?.textContent)).toContain("Usage");
  });

  it("lists its shortcuts by ?", async () => {
    await openPaired({ viewport: viewports.desk });
    await page.keyboard.press("?");
    const dialog = page.getByRole("dialog", { name: "Keyboard shortcuts" });
    await dialog.getByText("Go to Jobs").waitFor();
    expect(await violations()).toEqual([]);
  });
});
