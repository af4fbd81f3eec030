import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { launchBrowser, viewports } from "./browser.ts";
import { answerAsPairing } from "./stub-answers.ts";
import { type StubDaemon, startStubDaemon } from "./stub-daemon.ts";

let browser: Browser;
let daemon: StubDaemon;
let context: BrowserContext;
let page: Page;

beforeAll(async () => {
  browser = await launchBrowser();
}, 120_000);
afterAll(() => browser?.close());
beforeEach(async () => {
  daemon = await startStubDaemon();
  answerAsPairing(daemon);
  context = await browser.newContext({ viewport: viewports.phone });
  page = await context.newPage();
  page.setDefaultTimeout(60_000);
});
afterEach(async () => {
  await context.close();
  await daemon.close();
});

const live = () => page.getByText("Live", { exact: true }).waitFor();
const installed = () => page.evaluate(async () => void (await navigator.serviceWorker.ready));

async function openInstalled(): Promise<void> {
  await page.goto(`${daemon.base}#pair=ABCDEFGHJK`);
  await live();
  await installed();
}

describe("the installed page", () => {
  it("opens without a network and says so, and comes back by itself", async () => {
    await openInstalled();
    daemon.setDown(true);
    await page.reload();
    await page.getByText(/Reconnecting in \d+ s/).waitFor();
    await page.getByRole("button", { name: /Reconnecting/ }).click();
    await page.getByRole("dialog").getByText("The daemon does not answer.").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Try now" }).click();
    daemon.setDown(false);
    await live();
  });

  it("keeps nothing that the daemon answered, and no token", async () => {
    await openInstalled();
    const kept = await page.evaluate(async () => {
      const urls: string[] = [];
      let text = "";
      for (const name of await caches.keys()) {
        const cache = await caches.open(name);
        for (const request of await cache.keys()) {
          urls.push(request.url);
          text += await (await cache.match(request))?.text();
        }
      }
      return { urls, text };
    });
    expect(kept.urls.length).toBeGreaterThan(3);
    expect(kept.urls.filter((url) => url.includes("/api/") || url.includes("pair="))).toEqual([]);
    expect(kept.text).not.toContain("spd_x");
  });

  it("asks before it takes a newer version", async () => {
    await openInstalled();
    const worker = Buffer.from(daemon.files.get("worker.js") ?? "").toString("utf8");
    daemon.files.set("worker.js", Buffer.from(`${worker}\n// newer`));
    await page.evaluate(async () => void (await (await navigator.serviceWorker.ready).update()));
    const reloaded = page.waitForEvent("load");
    await page.getByRole("button", { name: "Update" }).click();
    await reloaded;
    await live();
    expect(await page.getByRole("button", { name: "Update" }).count()).toBe(0);
  });

  it("can be installed: a manifest with the icons that platforms ask for, in their sizes", async () => {
    await page.goto(daemon.base);
    const icons = await page.evaluate(async () => {
      const link = document.querySelector<HTMLLinkElement>('link[rel="manifest"]');
      const manifest = await (await fetch(link?.href ?? "")).json();
      return Promise.all(
        (manifest.icons as { src: string; sizes: string; purpose: string }[]).map(async (icon) => {
          const image = new Image();
          image.src = new URL(icon.src, link?.href).href;
          await image.decode();
          return `${icon.purpose} ${icon.sizes} ${image.naturalWidth}`;
        }),
      );
    });
    expect(icons).toContain("any 192x192 192");
    expect(icons).toContain("any 512x512 512");
    expect(icons).toContain("maskable 192x192 192");
    expect(icons).toContain("maskable 512x512 512");
  });
});
