import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import chromium from "@sparticuz/chromium";
import { type CDPSession, type Page, chromium as playwright } from "playwright-core";
import { startDaemon } from "../harness/daemon.ts";
import { number } from "../harness/pairs.ts";
import { call } from "../harness/rest.ts";
import { quantile, type Row } from "../harness/row.ts";

/** A phone is about so much slower than the machine that measures. */
const cpuSlowdown = 4;
const keys = 40;
const pairs = 7;
const events = 4_900;
const rounds = 20;

/** Words of one message, and records of their own: a step each, about a thousand a second. */
const scripts = {
  words: Array.from({ length: events }, (_, index) => ({
    type: "text_delta",
    text: `word${index} ${index % 40 === 39 ? "\n\n" : ""}`,
    delay_ms: 1,
  })),
  records: Array.from({ length: events }, (_, index) => ({ type: "notice", message: `record ${index}` })),
};

interface State {
  readonly workspace: {
    readonly tabs: readonly { readonly agents: readonly { readonly id: string; readonly state: string }[] }[];
  };
}

export const pageFlood: Row = {
  figure: `p95 from a key to the frame after it, while an agent says a thousand words a second, CPU ${cpuSlowdown} times slower`,
  against: "the same while it is silent",
  bound: { atMost: 2 },
  unit: "",
  async measure() {
    const folder = await mkdtemp("/var/tmp/sallyport-bench-page-");
    const sections = Object.entries(scripts).map(async ([name, steps]) => {
      const path = join(folder, `${name}.jsonl`);
      await writeFile(path, steps.map((step) => JSON.stringify(step)).join("\n"));
      return `[replay.${name}]\nscript = "${path}"\n`;
    });
    const daemon = await startDaemon((await Promise.all(sections)).join(""));
    process.env.AWS_EXECUTION_ENV ??= "AWS_Lambda_nodejs20.x";
    const browser = await playwright.launch({
      executablePath: await chromium.executablePath(),
      args: ["--no-sandbox", "--disable-gpu", "--headless=shell"],
    });
    const command = <T>(body: object): Promise<T> =>
      call<T>("POST", `${daemon.url}/api/command`, daemon.masterToken, body);

    async function openAgent(model: string): Promise<{ agent: string; page: Page; devTools: CDPSession }> {
      const { agent } = await command<{ agent: string }>({ type: "agent_start", runtime: "replay", model });
      const { code } = await call<{ code: string }>(
        "POST",
        `${daemon.url}/api/pair/codes`,
        daemon.masterToken,
        {},
      );
      const page = await browser.newPage({ viewport: { width: 390, height: 844 } });
      await page.goto(`${daemon.url}/#pair=${code}`);
      await page.getByText("Live", { exact: true }).waitFor();
      await page.goto(`${daemon.url}/#/agent/${agent}`);
      await page.getByRole("textbox", { name: "Prompt" }).waitFor();
      return { agent, page, devTools: await page.context().newCDPSession(page) };
    }
    async function until(agent: string, isThere: (state: string) => boolean): Promise<void> {
      for (;;) {
        const { workspace } = await call<State>("GET", `${daemon.url}/api/snapshot`, daemon.masterToken);
        const found = workspace.tabs.flatMap(({ agents }) => agents).find(({ id }) => id === agent);
        if (found !== undefined && isThere(found.state)) return;
        await delay(100);
      }
    }
    /** Until the turn is over and the page has drawn its end. */
    async function drawn(page: Page, agent: string): Promise<void> {
      await until(agent, (state) => state === "idle");
      await delay(200);
      await page.evaluate("new Promise((done) => requestAnimationFrame(done))");
    }

    async function typeKeys(page: Page): Promise<number[]> {
      await page.getByRole("textbox", { name: "Prompt" }).fill("");
      const delays: number[] = [];
      for (let each = 0; each < keys; each++) {
        const startedMs = performance.now();
        await page.keyboard.type("x");
        await page.evaluate("new Promise((done) => requestAnimationFrame(done))");
        delays.push(performance.now() - startedMs);
      }
      return delays;
    }

    try {
      const { agent, page, devTools } = await openAgent("words");
      await devTools.send("Emulation.setCPUThrottlingRate", { rate: cpuSlowdown });
      const silent: number[] = [];
      const flooded: number[] = [];
      const ratios: number[] = [];
      for (let pair = 0; pair < pairs; pair++) {
        const before = await typeKeys(page);
        await command({ type: "prompt", agent, text: `round ${pair}` });
        await until(agent, (state) => state !== "idle");
        await delay(200);
        const during = await typeKeys(page);
        await drawn(page, agent);
        ratios.push(quantile(during, 0.95) / quantile(before, 0.95));
        silent.push(...before);
        flooded.push(...during);
      }
      await page.close();

      const many = await openAgent("records");
      const megabytes = async (): Promise<number> => {
        await many.devTools.send("HeapProfiler.collectGarbage");
        return (await many.devTools.send("Runtime.getHeapUsage")).usedSize / 1e6;
      };
      let early = 0;
      for (let round = 0; round < rounds; round++) {
        await command({ type: "prompt", agent: many.agent, text: `round ${round}` });
        await drawn(many.page, many.agent);
        if (round === 3) early = await megabytes();
      }
      const late = await megabytes();
      return {
        samples: ratios,
        detail: `${number(quantile(flooded, 0.95))} against ${number(quantile(silent, 0.95))} ms; longest ${number(Math.max(...flooded))} ms`,
        more: [
          {
            figure: `memory of the page after ${number(events * rounds)} events`,
            against: `after ${number(events * 4)}`,
            bound: { atMost: 1.5 },
            unit: "",
            samples: [late / early],
            detail: `${number(late, 1)} against ${number(early, 1)} MB of JavaScript`,
          },
        ],
      };
    } finally {
      await browser.close();
      await daemon.stop();
      await rm(folder, { recursive: true, force: true });
    }
  },
};
