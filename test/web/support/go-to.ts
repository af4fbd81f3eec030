import type { Page } from "playwright-core";

/** Goes to a place of the application as a link would, and waits until it is there: drawn, loaded, and the focus where it belongs. */
export async function goTo(page: Page, at: string): Promise<void> {
  await page.evaluate(
    (hash) =>
      new Promise<void>((resolve) => {
        // The page before is there, whole, until the application has heard of it.
        if (location.hash === hash) return resolve();
        addEventListener("hashchange", () => resolve(), { once: true });
        location.hash = hash;
      }),
    `#${at}`,
  );
  await page.waitForFunction(
    () => document.querySelector("main h1") !== null && document.querySelector(".spinner") === null,
  );
  // What a component does behind its first frame.
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done))));
}
