import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { Job } from "../../../src/protocol/objects.ts";
import { goTo } from "../support/go-to.ts";
import { expectGoodForAll, poll, type Stand, startStand, tabTo } from "../support/stand.ts";

let stand: Stand;
let marks = 0;

beforeAll(async () => {
  stand = await startStand();
}, 120_000);
afterAll(() => stand?.dispose());
afterEach(() => stand.closePages());

/** A file for which a job waits: `sh` waits, `go` lets it go on. */
function mark(): { readonly sh: string; go(): Promise<void> } {
  marks += 1;
  const name = `mark-${marks}`;
  return {
    sh: `while [ ! -e ${name} ]; do sleep 0.05; done`,
    go: () => writeFile(join(stand.folder, name), ""),
  };
}
async function startJob(command: string, more: object = {}): Promise<string> {
  return ((await stand.command({ type: "job_start", command, ...more })).job as Job).id;
}
const jobState = async (id: string) => (await stand.snapshot()).jobs.find((job) => job.id === id)?.state;
const log = (page: Page) => page.getByRole("region", { name: "Output" });
const follow = (page: Page) => page.getByRole("button", { name: "Follow" });
const box = (page: Page) =>
  log(page).evaluate((element) => ({
    top: element.scrollTop,
    toEnd: element.scrollHeight - element.scrollTop - element.clientHeight,
    isWide: element.scrollWidth > element.clientWidth + 1,
  }));
async function scrollUp(page: Page, px: number): Promise<void> {
  await log(page).hover();
  await page.mouse.wheel(0, -px);
  await follow(page).waitFor();
}
/** Prints numbered lines of about a hundred bytes. */
const lines = (count: number) =>
  `awk 'BEGIN { for (i = 0; i < ${count}; i++) printf "line %06d %090d\\n", i, i }'`;

describe("a job, started from the page", () => {
  it.each(["phone", "desk"] as const)(
    "runs with its output and its colours as they come, and says how it ended: on a %s",
    async (size) => {
      const page = await stand.open("/jobs", { size });
      const next = mark();
      await page.getByRole("button", { name: "Start a job" }).click();
      const dialog = page.getByRole("dialog", { name: "Start a job" });
      await dialog.getByRole("button", { name: "Start", exact: true }).click();
      await dialog.getByText("Write the command that is to run.").waitFor();
      await expectGoodForAll(page);
      await dialog
        .getByLabel("Command")
        .fill(`printf '\\033[31mred\\033[0m and plain\\n'; ${next.sh}; echo later; exit 3`);
      await page.keyboard.press("Enter");
      await log(page).getByText("red", { exact: true }).waitFor();
      expect(
        await log(page)
          .getByText("red", { exact: true })
          .evaluate((element) => getComputedStyle(element).color !== getComputedStyle(document.body).color),
      ).toBe(true);
      await next.go();
      await log(page).getByText("later").waitFor();
      await page.getByLabel("Find in the output").fill("e");
      await expectGoodForAll(page);
      await page.locator("main").getByText("Ended with status 3").waitFor();
      expect(await page.getByRole("button", { name: "Stop", exact: true }).count()).toBe(0);
      await goTo(page, "/jobs");
      await page.getByRole("list", { name: "Ended" }).getByText("Ended with status 3").first().waitFor();
    },
    90_000,
  );

  it("is stopped after one question, with what it started", async () => {
    const id = await startJob("sleep 600 & sleep 600");
    const page = await stand.open(`/jobs/${id}`);
    await log(page).getByText("It has printed nothing yet").waitFor();
    await page.getByRole("button", { name: "Stop", exact: true }).click();
    await expectGoodForAll(page);
    await page.getByRole("button", { name: "Let it run" }).click();
    expect(await jobState(id)).toBe("running");
    await page.getByRole("button", { name: "Stop", exact: true }).click();
    await page.getByRole("button", { name: "Stop it" }).click();
    await page.locator("main").getByText("Stopped", { exact: true }).waitFor();
    await log(page).getByText("It printed nothing").waitFor();
    expect(await jobState(id)).toBe("killed");
  }, 90_000);

  it("is started and stopped by keyboard alone", async () => {
    const page = await stand.open("/jobs", { size: "desk" });
    await tabTo(page, page.getByRole("button", { name: "Start a job" }));
    await page.keyboard.press("Enter");
    await tabTo(page, page.getByLabel("Command"));
    await page.keyboard.type("sleep 600");
    await page.keyboard.press("Enter");
    const stop = page.getByRole("button", { name: "Stop", exact: true });
    await stop.waitFor();
    await tabTo(page, stop);
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    expect(await stop.evaluate((element) => element === document.activeElement)).toBe(true);
    await page.keyboard.press("Enter");
    await tabTo(page, page.getByRole("button", { name: "Stop it" }));
    await page.keyboard.press("Enter");
    await page.locator("main").getByText("Stopped", { exact: true }).waitFor();
  }, 90_000);
});

describe("the output of a job", () => {
  it("is followed at its end until the reader moves up, and holds still from then on", async () => {
    const [more, last] = [mark(), mark()];
    const id = await startJob(`${lines(600)}; ${more.sh}; ${lines(600)}; ${last.sh}; echo the very end`);
    const page = await stand.open(`/jobs/${id}`);
    await log(page).getByText("line 000599").waitFor();
    await poll(async () => (await box(page)).toEnd).toBeLessThan(2);
    await scrollUp(page, 2_000);
    const { top } = await box(page);
    await more.go();
    await poll(async () => (await box(page)).toEnd).toBeGreaterThan(8_000);
    expect((await box(page)).top).toBe(top);
    await follow(page).click();
    await poll(async () => (await box(page)).toEnd).toBeLessThan(2);
    await poll(() => follow(page).count()).toBe(0);
    // The button is gone, and the keyboard is where it was: at the output.
    expect(await page.evaluate(() => document.activeElement?.getAttribute("aria-label"))).toBe("Output");
    await page.setViewportSize({ width: 390, height: 500 });
    await poll(async () => (await box(page)).toEnd).toBeLessThan(2);
    await last.go();
    await log(page).getByText("the very end").waitFor();
    await poll(async () => (await box(page)).toEnd).toBeLessThan(2);
  }, 90_000);

  it("is searched, one found place after the other", async () => {
    const id = await startJob(`${lines(900)}; echo needle one; ${lines(900)}; echo NEEDLE two`);
    const page = await stand.open(`/jobs/${id}`);
    await log(page).getByText("NEEDLE two").waitFor();
    await page.getByLabel("Find in the output").fill("needle");
    const status = page.getByRole("search").getByRole("status");
    await poll(() => status.textContent()).toBe("2");
    await page.keyboard.press("Enter");
    await poll(() => status.textContent()).toBe("1 of 2");
    const isSeen = (text: string) =>
      log(page)
        .getByText(text)
        .evaluate((element) => {
          const [outer, inner] = [element.closest(".job-log"), element].map((one) =>
            one?.getBoundingClientRect(),
          );
          return !!outer && !!inner && inner.top >= outer.top && inner.bottom <= outer.bottom;
        });
    await poll(() => isSeen("needle one")).toBe(true);
    await page.getByRole("button", { name: "The next one" }).click();
    await poll(() => isSeen("NEEDLE two")).toBe(true);
    await page.getByRole("button", { name: "The next one" }).click();
    await poll(() => isSeen("needle one")).toBe(true);
    await page.getByLabel("Find in the output").fill("no such thing");
    await poll(() => status.textContent()).toBe("none");
  }, 90_000);

  it("wraps long lines or not, as this browser was told the last time", async () => {
    const id = await startJob("printf 'x%.0s' $(seq 600); echo");
    const page = await stand.open(`/jobs/${id}`);
    await log(page).getByText("xxxxx").waitFor();
    expect((await box(page)).isWide).toBe(false);
    await page.getByRole("button", { name: "More about this job" }).click();
    await page.getByRole("menuitemradio", { name: "Wrap long lines" }).click();
    await poll(async () => (await box(page)).isWide).toBe(true);
    await page.reload();
    await log(page).getByText("xxxxx").waitFor();
    expect((await box(page)).isWide).toBe(true);
  }, 90_000);

  it("goes back to what came earlier, and what was read stays where it was", async () => {
    const id = await startJob(lines(4_000));
    const page = await stand.open(`/jobs/${id}`);
    await log(page).getByText("line 003999").waitFor();
    expect(await log(page).getByText("line 000000").count()).toBe(0);
    // The very first may be a part of a line.
    const first = await log(page).locator("pre > span").nth(1).textContent();
    await log(page).evaluate((element) => {
      element.scrollTop = 0;
    });
    await log(page).getByRole("button", { name: "Show earlier output" }).click();
    await log(page).getByText("line 000000").waitFor({ state: "attached" });
    const place = () =>
      log(page).evaluate((element, text) => {
        const line = [...element.querySelectorAll("pre > span")].find(
          ({ textContent }) => textContent === text,
        );
        return Math.abs((line?.getBoundingClientRect().top ?? 0) - element.getBoundingClientRect().top);
      }, first ?? "");
    // A line below the one that was the first.
    await poll(place).toBeLessThan(100);
    await log(page).evaluate((element) => {
      element.scrollTop = 0;
    });
    expect(await log(page).getByRole("button", { name: "Show earlier output" }).count()).toBe(0);
  }, 90_000);

  it("does not freeze what is typed when it floods, and goes on near its end", async () => {
    const stop = mark();
    const id = await startJob(
      `${stop.sh.replace("sleep 0.05", "yes flood-flood-flood | head -c 400000; sleep 0.02")}; echo; echo dry`,
    );
    const page = await stand.open(`/jobs/${id}`);
    await log(page).getByText("flood").first().waitFor();
    const words = "typed while it floods";
    await page.getByLabel("Find in the output").pressSequentially(words);
    expect(await page.getByLabel("Find in the output").inputValue()).toBe(words);
    await page.getByLabel("Find in the output").fill("");
    expect(await log(page).locator("pre > span").count()).toBeLessThanOrEqual(10_001);
    await scrollUp(page, 3_000);
    const seen = await log(page).evaluate((element) => {
      const { left, top } = element.getBoundingClientRect();
      (window as { held?: Element | null }).held = document.elementFromPoint(left + 30, top + 30);
      return element.scrollTop;
    });
    await stop.go();
    await page.locator("main").getByText("Ended well").waitFor();
    expect(
      await log(page).evaluate((element) => ({
        top: element.scrollTop,
        isThere: (window as { held?: Element | null }).held?.isConnected,
      })),
    ).toEqual({ top: seen, isThere: true });
    await follow(page).click();
    await log(page).getByText("dry", { exact: true }).waitFor();
  }, 120_000);

  it("is saved as the very file, also where a piece ends inside of a character", async () => {
    const id = await startJob(`printf 'x'; awk 'BEGIN { for (i = 0; i < 9000; i++) print "grüße 😀 " i }'`);
    await poll(() => jobState(id)).toBe("exited");
    const page = await stand.open(`/jobs/${id}`);
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Download" }).click(),
    ]);
    expect(download.suggestedFilename()).toMatch(/^printf-x-awk-.*\.log$/);
    const saved = await readFile(await download.path(), "utf8");
    expect(saved).toBe(`x${Array.from({ length: 9_000 }, (_, i) => `grüße 😀 ${i}\n`).join("")}`);
  }, 90_000);
});

describe("a job that is elsewhere", () => {
  it("is shown when it belongs to another workspace", async () => {
    const { workspace } = await stand.command({ type: "workspace_create", name: "other" });
    const { tab } = await stand.command({ type: "tab_create", workspace, cwd: stand.folder });
    const id = await startJob("echo from elsewhere", { tab });
    const page = await stand.open(`/jobs/${id}`);
    await log(page).getByText("from elsewhere", { exact: true }).waitFor();
  }, 90_000);

  it("is said to be nowhere when nobody knows it", async () => {
    const page = await stand.open("/jobs/00000000");
    await page.getByText("There is no such job").waitFor();
    await page.getByRole("button", { name: "Back to the jobs" }).click();
    await page.getByRole("heading", { name: "Jobs", exact: true, level: 1 }).waitFor();
  }, 90_000);

  it("keeps a long command out of the way of its output", async () => {
    const id = await startJob(
      `echo begin\n${Array.from({ length: 200 }, (_, i) => `: line ${i}`).join("\n")}`,
    );
    const page = await stand.open(`/jobs/${id}`);
    await log(page).getByText("begin", { exact: true }).waitFor();
    expect((await log(page).boundingBox())?.height).toBeGreaterThan(300);
    await page.getByRole("button", { name: "More about this job" }).click();
    await page.getByRole("menuitem", { name: "The whole command" }).click();
    await page.getByRole("dialog", { name: "The whole command" }).getByText(": line 199").waitFor();
    await expectGoodForAll(page);
  }, 90_000);
});

describe("a device that may not do everything", () => {
  it("looks at jobs without starting or stopping any", async () => {
    const id = await startJob("echo seen; sleep 600");
    const page = await stand.open("/jobs", { scopes: ["view"] });
    expect(await page.getByRole("button", { name: "Start a job" }).count()).toBe(0);
    await goTo(page, `/jobs/${id}`);
    await log(page).getByText("seen", { exact: true }).waitFor();
    expect(await page.getByRole("button", { name: "Stop", exact: true }).count()).toBe(0);
    await page.getByRole("button", { name: "Download" }).waitFor();
    await stand.command({ type: "job_kill", job: id });
  }, 90_000);

  it("asks for a job that it may not start by itself", async () => {
    const page = await stand.open("/jobs", { scopes: ["view", "drive"] });
    await page.getByRole("button", { name: "Start a job" }).click();
    await page.getByText("Somebody who may approve is asked before it runs.").waitFor();
    await page.getByLabel("Command").fill("echo allowed");
    await page.keyboard.press("Enter");
    await page.getByText("It runs when another device allows it.").waitFor();
    const { pending } = await stand.snapshot();
    await stand.command({ type: "approve", request_id: pending[0]?.request_id, decision: "allow" });
    await page.getByRole("list", { name: "Ended" }).getByText("echo allowed").waitFor();
  }, 90_000);
});
