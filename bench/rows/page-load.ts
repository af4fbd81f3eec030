import chromium from "@sparticuz/chromium";
import { type Browser, chromium as playwright } from "playwright-core";
import { type Daemon, startDaemon } from "../harness/daemon.ts";
import { number } from "../harness/pairs.ts";
import { call } from "../harness/rest.ts";
import { median, type Row } from "../harness/row.ts";

/** A bad mobile network and a cheap phone. */
const network = { offline: false, latency: 400, downloadThroughput: 50_000, uploadThroughput: 50_000 };
const cpuSlowdown = 4;
const runs = 5;
const boundMs = 5_000;

export const pageLoad: Row = {
  figure: `the page of a link is paired and can be used, at 400 kbit/s, 400 ms round trip and a CPU ${cpuSlowdown} times slower`,
  against: "",
  bound: { atMost: boundMs },
  unit: " ms",
  async measure() {
    const daemon = await startDaemon();
    process.env.AWS_EXECUTION_ENV ??= "AWS_Lambda_nodejs20.x";
    const browser = await playwright.launch({
      executablePath: await chromium.executablePath(),
      args: ["--no-sandbox", "--disable-gpu", "--headless=shell"],
    });
    try {
      const first: number[] = [];
      const again: number[] = [];
      const bytes: number[] = [];
      for (let run = 0; run < runs; run++) {
        const visit = await visitTwice(browser, daemon);
        first.push(visit.firstMs);
        again.push(visit.againMs);
        bytes.push(visit.firstBytes);
      }
      return {
        samples: first,
        detail: `${number(median(bytes) / 1_000)} KB until then`,
        more: [
          {
            figure: "the same page opened again, from what the browser kept",
            against: "",
            bound: { atMost: boundMs },
            unit: " ms",
            samples: again,
            detail: "its files come from the worker, the state from the daemon",
          },
        ],
      };
    } finally {
      await browser.close();
      await daemon.stop();
    }
  },
};

/** Once with an empty browser, and once with what that left in it. */
async function visitTwice(browser: Browser, daemon: Daemon) {
  const { code } = await call<{ code: string }>(
    "POST",
    `${daemon.url}/api/pair/codes`,
    daemon.masterToken,
    {},
  );
  const context = await browser.newContext({ viewport: { width: 390, height: 844 } });
  const usableMs = async (address: string): Promise<{ ms: number; bytes: number }> => {
    const page = await context.newPage();
    const devTools = await context.newCDPSession(page);
    let bytes = 0;
    devTools.on("Network.loadingFinished", ({ encodedDataLength }) => {
      bytes += encodedDataLength;
    });
    await devTools.send("Network.enable");
    await devTools.send("Network.emulateNetworkConditions", network);
    await devTools.send("Emulation.setCPUThrottlingRate", { rate: cpuSlowdown });
    const startedMs = performance.now();
    await page.goto(address, { waitUntil: "commit" });
    await page.getByText("Live", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Open a folder" }).waitFor();
    await page.evaluate("new Promise((done) => requestAnimationFrame(done))");
    const result = { ms: performance.now() - startedMs, bytes };
    // The worker keeps the page's files meanwhile; that is no part of the wait.
    await devTools.send("Network.emulateNetworkConditions", {
      ...network,
      latency: 0,
      downloadThroughput: -1,
      uploadThroughput: -1,
    });
    await page.evaluate("navigator.serviceWorker?.ready.then(() => undefined)");
    await page.waitForLoadState("networkidle");
    await page.close();
    return result;
  };
  try {
    const first = await usableMs(`${daemon.url}/#pair=${code}`);
    const again = await usableMs(`${daemon.url}/`);
    return { firstMs: first.ms, firstBytes: first.bytes, againMs: again.ms };
  } finally {
    await context.close();
  }
}
