import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { create } from "qrcode";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { cameraProblem, cameraSupport } from "../../web/pairing/camera.ts";
import { launchBrowser, viewports } from "./browser.ts";
import { answerAsPairing } from "./stub-answers.ts";
import { type StubDaemon, startStubDaemon } from "./stub-daemon.ts";

let folder: string;
let daemon: StubDaemon;
let browser: Browser | undefined;
let context: BrowserContext;
let page: Page;

/** A film of one picture: a QR code of `text` in the middle (YUV4MPEG2, planes Y, U and V). */
function filmOf(text: string): Buffer {
  const [width, height, modulePx] = [640, 480, 8];
  const { modules } = create(text, { errorCorrectionLevel: "M" });
  const luma = Buffer.alloc(width * height, 235);
  const [left, top] = [(width - modules.size * modulePx) / 2, (height - modules.size * modulePx) / 2];
  for (let row = 0; row < modules.size; row += 1)
    for (let column = 0; column < modules.size; column += 1)
      if (modules.get(row, column))
        for (let y = 0; y < modulePx; y += 1) {
          const start = Math.round(top + row * modulePx + y) * width + Math.round(left + column * modulePx);
          luma.fill(16, start, start + modulePx);
        }
  const chroma = Buffer.alloc((width * height) / 2, 128);
  const frame = Buffer.concat([Buffer.from("FRAME\n"), luma, chroma]);
  return Buffer.concat([
    Buffer.from(`YUV4MPEG2 W${width} H${height} F10:1 Ip A1:1 C420jpeg\n`),
    frame,
    frame,
  ]);
}

async function openWithCamera(text: string | null): Promise<void> {
  const film = join(folder, "film.y4m");
  if (text !== null) await writeFile(film, filmOf(text));
  browser = await launchBrowser(
    text === null
      ? []
      : [
          "--use-fake-ui-for-media-stream",
          "--use-fake-device-for-media-stream",
          `--use-file-for-fake-video-capture=${film}`,
        ],
  );
  context = await browser.newContext({ viewport: viewports.phone });
  page = await context.newPage();
  page.setDefaultTimeout(60_000);
  await page.goto(daemon.base);
  await page.getByRole("button", { name: "Scan a QR code" }).click();
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "sallyport-scan-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));
beforeEach(async () => {
  daemon = await startStubDaemon();
  answerAsPairing(daemon);
});
afterEach(async () => {
  await browser?.close();
  await daemon.close();
});

describe("scanning a pairing code", () => {
  it("pairs with the code of the link that the camera sees, and switches the camera off", async () => {
    await openWithCamera("https://box.example/#pair=ABCDE-FGHJK");
    await page.getByText("Live", { exact: true }).waitFor();
    expect(daemon.seen.find(({ path }) => path === "api/pair")?.body?.code).toBe("ABCDEFGHJK");
    expect(await page.locator("video").count()).toBe(0);
  }, 120_000);

  it("says that another QR code is none for pairing, and sends nothing", async () => {
    await openWithCamera("https://example.com/menu");
    await page.getByText("not one for pairing").waitFor();
    expect(daemon.seen.filter(({ path }) => path === "api/pair")).toEqual([]);
    await page.getByRole("button", { name: "Close" }).click();
    await page.getByLabel("Pairing code").waitFor();
  }, 120_000);

  it("says what to do where there is no camera", async () => {
    await openWithCamera(null);
    await page.getByRole("alert").getByText("Type the code").waitFor();
  }, 120_000);
});

describe("cameraSupport", () => {
  it.each([
    [true, { getUserMedia: 1 }, "yes"],
    [true, {}, "none"],
    [true, undefined, "none"],
    [false, { getUserMedia: 1 }, "insecure"],
    [false, undefined, "insecure"],
  ] as const)("secure %s, devices %j: %s", (isSecure, devices, expected) => {
    expect(cameraSupport(isSecure, devices)).toBe(expected);
  });

  it("knows a next step for every failure", () => {
    for (const name of ["NotAllowedError", "NotFoundError", "NotReadableError", "Strange"])
      expect(cameraProblem(Object.assign(new Error("x"), { name }))).toMatch(/type the code/i);
    expect(cameraProblem("x")).toMatch(/type the code/i);
  });
});
