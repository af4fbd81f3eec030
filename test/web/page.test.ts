import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { launchBrowser } from "./browser.ts";
import { answerAsPairing, refusal } from "./stub-answers.ts";
import { type StubDaemon, startStubDaemon, stubDevice } from "./stub-daemon.ts";

let browser: Browser;
let daemon: StubDaemon;
let context: BrowserContext;
let page: Page;
let outside: string[] = [];

beforeAll(async () => {
  browser = await launchBrowser();
}, 120_000);
afterAll(() => browser?.close());

beforeEach(async () => {
  daemon = await startStubDaemon();
  context = await browser.newContext({ viewport: { width: 360, height: 740 } });
  page = await context.newPage();
  page.setDefaultTimeout(60_000);
  outside = [];
  page.on("request", (request) => {
    if (!request.url().startsWith(daemon.base)) outside.push(request.url());
  });
  page.on("console", (message) => {
    if (/Content Security Policy/i.test(message.text())) outside.push(message.text());
  });
  answerAsPairing(daemon);
});
afterEach(async () => {
  await context.close();
  await daemon.close();
  expect(outside).toEqual([]);
});

const heading = (name: string | RegExp) => page.getByRole("heading", { level: 1, name }).waitFor();
const paired = () => page.getByText("Live", { exact: true }).waitFor();
/** Everything that this browser keeps of the page. */
const stored = () =>
  page.evaluate(async () => {
    const values: unknown[] = [{ ...localStorage, ...sessionStorage }];
    for (const { name = "" } of await indexedDB.databases()) {
      const database = await new Promise<IDBDatabase>((resolve) => {
        const request = indexedDB.open(name);
        request.onsuccess = () => resolve(request.result);
      });
      for (const store of database.objectStoreNames)
        values.push(
          await new Promise((resolve) => {
            const request = database.transaction(store).objectStore(store).getAll();
            request.onsuccess = () => resolve(request.result);
          }),
        );
      database.close();
    }
    return JSON.stringify(values.flat().filter((value) => Object.keys(value as object).length > 0));
  });
const pairs = () => daemon.seen.filter(({ path }) => path === "api/pair");

describe("the first page", () => {
  it("pairs by the code of a link and takes it out of the address at once", async () => {
    await page.goto(`${daemon.base}#pair=ABCDE-FGHJK`);
    await paired();
    expect(page.url()).toBe(daemon.base);
    expect(pairs()).toHaveLength(1);
    expect(pairs()[0]?.body).toMatchObject({ code: "ABCDEFGHJK", kind: "browser" });
    expect(await stored()).toContain("spd_x");
    await page.getByText("Paired as Pixel phone.", { exact: true }).first().waitFor();
    await page.reload();
    await paired();
    expect(pairs()).toHaveLength(1);
  });

  it("pairs by a typed code, however it is typed, and says what is wrong with one", async () => {
    await page.goto(daemon.base);
    await heading("Pair this browser");
    const code = page.getByLabel("Pairing code");
    await code.fill("abc");
    await page.keyboard.press("Enter");
    await page.getByText("these are 3").waitFor();
    expect(pairs()).toHaveLength(0);
    daemon.answers.set("POST api/pair", () =>
      refusal(403, "pairing_refused", "This code is wrong, used or expired."),
    );
    await code.fill(" abcde fghj o ");
    await page.keyboard.press("Enter");
    await page.getByText("wrong, used or expired").waitFor();
    expect(pairs()[0]?.body?.code).toBe("ABCDEFGHJ0");
    daemon.answers.set("POST api/pair", () =>
      refusal(429, "pairing_locked", "Locked.", { retry_after: 540 }),
    );
    await page.getByRole("button", { name: "Pair" }).click();
    await page.getByText("Wait 9 min").waitFor();
    expect(await stored()).toBe("[]");
  });

  it("claims again with the same nonce when the reply is lost", async () => {
    let claims = 0;
    daemon.answers.set("POST api/pair", () => {
      claims += 1;
      return claims < 3
        ? "drop"
        : { status: 200, body: { token: "spd_x", device: stubDevice, version: "1.0.0" } };
    });
    await page.goto(`${daemon.base}#pair=ABCDEFGHJK`);
    await paired();
    expect(new Set(pairs().map(({ body }) => body?.nonce)).size).toBe(1);
  });

  it("trades a master token for a device token and keeps nothing of it", async () => {
    await page.goto(`${daemon.base}?token=spm_master`);
    await paired();
    expect(page.url()).toBe(daemon.base);
    const [ticket] = daemon.seen.filter(({ path }) => path === "api/ws/ticket");
    expect(ticket).toMatchObject({ authorization: "Bearer spm_master", body: { purpose: "page" } });
    expect(pairs()[0]?.body?.ticket).toBe("spt_x");
    expect(await stored()).not.toContain("spm_");
  });

  it("trades the ticket of `sallyport web`", async () => {
    await page.goto(`${daemon.base}#ticket=spt_page`);
    await paired();
    expect(page.url()).toBe(daemon.base);
    expect(pairs()[0]?.body?.ticket).toBe("spt_page");
  });

  it("forgets its token when the device is revoked, live and at the next start", async () => {
    await page.goto(`${daemon.base}#pair=ABCDEFGHJK`);
    await paired();
    daemon.closeSockets(4401);
    await heading("This browser is no longer paired");
    expect(await stored()).toBe("[]");
    await page.goto(`${daemon.base}#pair=ABCDEFGHJK`);
    await paired();
    for (const route of ["GET api/daemon", "POST api/ws/ticket"])
      daemon.answers.set(route, () => refusal(401, "unauthorized", "No valid credential."));
    await page.reload();
    await heading("This browser is no longer paired");
    expect(await stored()).toBe("[]");
  });

  it("says that remote access is off, or that nobody answers", async () => {
    daemon.answers.set("GET api/hello", () => refusal(403, "remote_off", "Remote access is off."));
    await page.goto(daemon.base);
    await heading("Remote access is off");
    await page.getByText("sallyport remote on").waitFor();
    await page.getByText("In a clone of Sallyport write npx before it.").waitFor();
    daemon.answers.set("GET api/hello", () => "drop");
    await page.getByRole("button", { name: "Try again" }).click();
    await heading("The daemon does not answer");
  });

  it("stands still while it connects, with everything in its place", async () => {
    await page.goto(`${daemon.base}#pair=ABCDEFGHJK`);
    await paired();
    await page.route("**/api/ws/ticket", () => undefined);
    await page.reload();
    const mark = page.getByRole("button", { name: "Connecting…" });
    await mark.waitFor();
    expect(await mark.evaluate((element) => getComputedStyle(element).animationName)).toBe("none");
    await page.locator(".brand").getByText("Sallyport").waitFor();
    const places = page.getByRole("navigation").getByRole("link");
    expect(await places.allInnerTexts()).toEqual(["Work", "Approvals", "Jobs", "Sessions", "More"]);
  });

  it("comes back by itself after a restart", async () => {
    await page.goto(`${daemon.base}#pair=ABCDEFGHJK`);
    await paired();
    daemon.closeSockets(1001);
    await expect.poll(() => daemon.seen.filter(({ path }) => path === "api/ws/ticket").length).toBe(2);
    await paired();
  });
});
