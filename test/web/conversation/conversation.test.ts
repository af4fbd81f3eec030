import { Buffer } from "node:buffer";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { goTo } from "../support/go-to.ts";
import { type Harness, startHarness, violations } from "../support/harness.ts";
import { echo, everything, flood, hold, hostile, long, slow } from "./scripts.ts";

let harness: Harness;

beforeAll(async () => {
  harness = await startHarness({
    scripts: { everything, hostile, long, slow, flood, hold, echo },
    files: {
      "src/store.ts": "export const a = 1;\n",
      "src/server.ts": "export const b = 1;\n",
      ".claude/commands/fix.md": "---\ndescription: Fix a file\nargument-hint: <file>\n---\nFix $ARGUMENTS\n",
    },
  });
}, 120_000);
afterAll(() => harness?.dispose());
afterEach(() => harness.closePages());

const input = (page: Page) => page.getByRole("textbox", { name: "Prompt" });
const feed = (page: Page) => page.getByRole("feed", { name: "Conversation" });
const send = (page: Page) => page.getByRole("button", { name: "Send" }).click();
const idle = (agent: string) =>
  expect.poll(() => harness.agentState(agent), { timeout: 60_000 }).toBe("idle");

/** The conversation with a new agent of this script. */
async function open(script: string, options: Parameters<Harness["open"]>[1] = {}) {
  const agent = await harness.startAgent(script);
  const page = await harness.open(`/agent/${agent}`, options);
  return { agent, page };
}
/** One that was prompted and is done. */
async function openDone(script: string, rounds = 1, options: Parameters<Harness["open"]>[1] = {}) {
  const agent = await harness.startAgent(script);
  for (let round = 0; round < rounds; round += 1) {
    await harness.command({ type: "prompt", agent, text: `round ${round}` });
    await idle(agent);
  }
  const page = await harness.open(`/agent/${agent}`, options);
  await page.getByRole("article").first().waitFor();
  return { agent, page };
}
const distanceToEnd = (page: Page) =>
  page.locator(".virtual-scroll").evaluate((box) => box.scrollHeight - box.clientHeight - box.scrollTop);
async function wheel(page: Page, deltaY: number): Promise<void> {
  await page.locator(".virtual-scroll").hover({ position: { x: 20, y: 60 } });
  await page.mouse.wheel(0, deltaY);
}

describe("a conversation", () => {
  it("shows all that an agent says and does, as it comes", async () => {
    const { page } = await open("everything");
    await page.getByText("Nothing was said yet").waitFor();
    await input(page).fill("Move it");
    await send(page);
    await page.getByRole("heading", { level: 1, name: "Move the store" }).waitFor();
    await feed(page).getByText("All done.").waitFor();
    expect(await input(page).inputValue()).toBe("");
    await page.getByText(/15k in, 840 out · \$0.043/).waitFor();
    await page.getByRole("note").getByText("The quota is used up.").waitFor();
    const test = page.getByRole("article", { name: "Call of bash: npm test" });
    await test.getByText("Exit 3").waitFor();
    expect(await test.locator(".ansi-fg-1").textContent()).toBe("red");
    const edit = page.getByRole("article", { name: /Call of edit/ });
    expect(await edit.locator(".diff-row.added").textContent()).toContain("added: new line");
    expect(await edit.locator(".diff-row.removed").textContent()).toContain("removed: old line");
    await page.getByText("Plan: 1 of 2 done").waitFor();
    await wheel(page, -5_000);
    const answer = page.getByRole("article", { name: "Answer of the agent" }).first();
    expect(await answer.locator("strong").textContent()).toBe("move");
    expect(await answer.getByRole("table").count()).toBe(1);
    await answer.locator(".hljs-keyword").first().waitFor();
    const thoughts = answer.getByRole("button", { name: "Thoughts" });
    expect(await thoughts.getAttribute("aria-expanded")).toBe("false");
    await thoughts.click();
    await answer.getByText("I think a bit.").waitFor();
  }, 90_000);

  it("leads to a subagent and back, which takes no prompt", async () => {
    const { page, agent } = await openDone("everything");
    await page.getByRole("link", { name: /Open reviewer/ }).click();
    await feed(page).getByText("Looks good.").waitFor();
    await page.getByText("A subagent is prompted by the agent that started it.").waitFor();
    expect(await input(page).count()).toBe(0);
    await page.getByRole("button", { name: "Back to the agent that started this one" }).click();
    await expect.poll(() => page.url()).toContain(agent);
  }, 90_000);

  it("a hostile transcript: runs nothing, loads nothing, and hides nothing", async () => {
    const { page } = await openDone("hostile");
    await feed(page).getByText("the end", { exact: true }).waitFor();
    await page.getByText("<script>window.pwned = 1</script>").waitFor();
    await page.getByText("user⟨U+202E⟩txt.exe").waitFor();
    expect(await page.locator(".markdown").locator("img, script, style, iframe").count()).toBe(0);
    const links = await page
      .locator(".markdown a")
      .evaluateAll((all) => all.map((link) => link.getAttribute("href")));
    expect(links).toEqual(["https://evil.example/pixel.png"]);
    expect(await page.evaluate(() => (window as { pwned?: number }).pwned)).toBeUndefined();
  }, 90_000);

  it("loads history upwards while what is read holds still", async () => {
    const { page } = await openDone("long", 2);
    await expect.poll(() => distanceToEnd(page)).toBeLessThanOrEqual(1);
    // In the page itself: a step of scrolling, a frame, and how far each row went.
    const worstPx = await page.evaluate(async () => {
      const box = document.querySelector(".virtual-scroll");
      if (box === null) throw new Error("no list");
      const rows = () => [...document.querySelectorAll<HTMLElement>(".virtual-row")];
      const frame = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
      let worst = 0;
      for (let step = 0; step < 110; step += 1) {
        const before = new Map(rows().map((row) => [row.dataset.key, row.getBoundingClientRect().top]));
        const top = box.scrollTop;
        box.scrollTop -= 250;
        const moved = top - box.scrollTop;
        await frame();
        const view = box.getBoundingClientRect();
        for (const row of rows()) {
          const rect = row.getBoundingClientRect();
          const was = before.get(row.dataset.key);
          if (was === undefined || rect.bottom < view.top || rect.top > view.bottom) continue;
          worst = Math.max(worst, Math.abs(rect.top - was - moved));
        }
        if (step % 20 === 0) await new Promise((done) => setTimeout(done, 200));
      }
      return worst;
    });
    expect(worstPx).toBeLessThanOrEqual(1);
    await expect
      .poll(async () => {
        await page.locator(".virtual-scroll").evaluate((box) => {
          box.scrollTop = 0;
        });
        return page.getByText("round 0", { exact: true }).count();
      })
      .toBe(1);
    expect(await page.locator(".virtual-row").count()).toBeLessThan(80);
    await page.getByRole("button", { name: "To the end" }).click();
    await expect.poll(() => distanceToEnd(page)).toBeLessThanOrEqual(1);
  }, 120_000);

  it("stays at the end while it grows, until the reader scrolls up, and then says that there is more", async () => {
    const { page } = await openDone("long", 1);
    const { agent } = { agent: page.url().split("/agent/")[1] ?? "" };
    await harness.command({ type: "model", agent, model: "slow" });
    await harness.command({ type: "prompt", agent, text: "go on" });
    await feed(page)
      .getByText(/word40/)
      .waitFor();
    await expect.poll(() => distanceToEnd(page)).toBeLessThanOrEqual(2);
    await wheel(page, -700);
    await page.getByRole("button", { name: "New output below" }).waitFor();
    const row = page.getByText("note 118", { exact: true });
    const before = await row.boundingBox();
    await idle(agent);
    expect((await row.boundingBox())?.y).toBeCloseTo(before?.y ?? -1, 0);
    await page.getByRole("button", { name: "New output below" }).click();
    await feed(page)
      .getByText(/word399/)
      .waitFor();
    await expect.poll(() => distanceToEnd(page)).toBeLessThanOrEqual(1);
  }, 120_000);

  it("takes what is typed while thousands of events come, and shows the last of them", async () => {
    const { page, agent } = await open("flood");
    await harness.command({ type: "prompt", agent, text: "go" });
    const text = "not one letter of this is lost";
    await input(page).pressSequentially(text);
    expect(await input(page).inputValue()).toBe(text);
    await idle(agent);
    await feed(page).getByText("flood 4499").waitFor();
    await expect.poll(() => distanceToEnd(page)).toBeLessThanOrEqual(1);
    expect(await page.locator(".virtual-row").count()).toBeLessThan(80);
  }, 120_000);

  it("is walked through by keyboard, row by row", async () => {
    const { page } = await openDone("long", 1, { size: "desk" });
    const focused = () => page.evaluate(() => Number(document.activeElement?.getAttribute("aria-posinset")));
    await page.locator("h1").focus();
    await page.keyboard.press("k");
    await expect.poll(focused).toBeGreaterThan(100);
    const last = await focused();
    for (let step = 0; step < 30; step += 1) await page.keyboard.press("PageUp");
    await expect.poll(focused).toBe(last - 30);
    await page.keyboard.press("PageDown");
    await expect.poll(focused).toBe(last - 29);
    expect(await feed(page).getAttribute("aria-busy")).toBe("false");
  }, 90_000);

  it("goes on where it was after the daemon was away", async () => {
    const { page, agent } = await openDone("echo");
    await harness.stopDaemon();
    await input(page).fill("written while it was away");
    await send(page);
    await page.getByText("Kept. It is sent once when the connection is back.").waitFor();
    await harness.startDaemon();
    await feed(page).getByText("You said: written while it was away").waitFor({ timeout: 60_000 });
    await page.getByText("Kept. It is sent once").waitFor({ state: "detached" });
    const { json } = await harness.daemon.request("GET", `/api/sessions/${agent}`);
    const { records } = json as { records: { type: string; text?: string }[] };
    expect(
      records.filter(({ type, text }) => type === "user_message" && text?.includes("away")),
    ).toHaveLength(1);
  }, 120_000);

  it("can be read by a device that may only look", async () => {
    const agent = await harness.startAgent("echo");
    await harness.command({ type: "prompt", agent, text: "hello" });
    const page = await harness.open(`/agent/${agent}`, { scopes: ["view"] });
    await feed(page).getByText("You said: hello").waitFor();
    await page.getByText("This device may look, but not prompt.").waitFor();
    expect(await input(page).count()).toBe(0);
  }, 90_000);

  it("says so when there is none", async () => {
    const page = await harness.open("/agent/01a17453-0003-7000-8000-000000000003");
    await page.getByText("There is no such conversation.").waitFor();
  }, 90_000);

  it("is closed, and opened again from where it was", async () => {
    const { page, agent } = await openDone("echo");
    await page.getByRole("button", { name: "More of this conversation" }).click();
    await page.getByRole("menuitem", { name: "Close" }).click();
    await page.getByText("Closed. The conversation stays among the sessions.").waitFor();
    await goTo(page, `/agent/${agent}`);
    await feed(page).getByText("You said: round 0").waitFor();
    await page.getByRole("button", { name: "Go on with it" }).click();
    await input(page).waitFor();
  }, 90_000);

  it("gets a title, a mode and a model of one's own", async () => {
    const { page, agent } = await openDone("echo");
    await page.getByRole("button", { name: "More of this conversation" }).click();
    await page.getByRole("menuitem", { name: "Rename…" }).click();
    await page.getByLabel("Title").fill("My echo");
    await page.getByRole("button", { name: "Rename" }).click();
    await page.getByRole("heading", { level: 1, name: "My echo" }).waitFor();
    await page.getByRole("button", { name: "Mode, model and thinking" }).click();
    await page.getByLabel("Edits").click();
    await page.getByLabel("Model", { exact: true }).selectOption("long");
    await expect
      .poll(async () => {
        const { workspace } = await harness.snapshot();
        const tab = workspace.tabs.find(({ agents }) => agents.some(({ id }) => id === agent));
        return [tab?.mode, tab?.agents.find(({ id }) => id === agent)?.model];
      })
      .toEqual(["edits", "long"]);
    await page.getByLabel("Ask", { exact: true }).click();
  }, 90_000);
});

describe("the composer", () => {
  it("keeps a draft for each agent, over a reload", async () => {
    const { page, agent } = await open("echo");
    const other = await harness.startAgent("echo");
    await input(page).fill("half a thou");
    await goTo(page, `/agent/${other}`);
    expect(await input(page).inputValue()).toBe("");
    await expect.poll(() => page.evaluate(() => JSON.stringify(localStorage))).toContain("half a thou");
    await page.reload();
    await goTo(page, `/agent/${agent}`);
    expect(await input(page).inputValue()).toBe("half a thou");
  }, 90_000);

  it("sends by Enter where there is a keyboard, and makes a new line on a phone", async () => {
    const { page } = await open("echo", { size: "desk" });
    await input(page).fill("one");
    await page.keyboard.press("Shift+Enter");
    await page.keyboard.type("two");
    await page.keyboard.press("Enter");
    await feed(page).getByText("You said: one").waitFor();
    const phone = (await open("echo", { hasTouch: true, isMobile: true })).page;
    await input(phone).fill("one");
    await phone.keyboard.press("Enter");
    expect(await input(phone).inputValue()).toBe("one\n");
    await phone.keyboard.press("Control+Enter");
    await feed(phone).getByText("You said: one").waitFor();
  }, 90_000);

  it("keeps in sight what is typed while a keyboard covers most of a phone", async () => {
    const { page } = await open("hold", { hasTouch: true });
    await input(page).fill("stay");
    await send(page);
    await page.getByRole("button", { name: "Stop this turn" }).waitFor();
    await input(page).fill("and then");
    for (const size of [
      { width: 320, height: 300 },
      { width: 844, height: 190 },
    ]) {
      await page.setViewportSize(size);
      for (const part of [input(page), page.getByRole("button", { name: "Queue" })]) {
        const box = await part.boundingBox();
        expect(box?.height).toBeGreaterThanOrEqual(44);
        expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThanOrEqual(size.height);
      }
    }
  }, 90_000);

  it("completes the commands of the project and the files of its folder, by keyboard", async () => {
    const { page } = await open("echo", { size: "desk" });
    // A busy machine draws late; what is typed meanwhile stands where it belongs.
    await page.evaluate(() => {
      window.requestAnimationFrame = (draw) => window.setTimeout(() => draw(performance.now()), 100);
    });
    await input(page).pressSequentially("/f");
    await page.getByRole("option", { name: /\/fix <file>/ }).waitFor();
    expect(await input(page).getAttribute("aria-activedescendant")).toBeTruthy();
    await page.keyboard.press("Enter");
    expect(await input(page).inputValue()).toBe("/fix ");
    await input(page).pressSequentially("@sr", { delay: 200 });
    await page.getByRole("option", { name: /src\//, selected: true }).waitFor();
    await page.keyboard.press("Tab");
    await expect.poll(() => input(page).inputValue()).toBe("/fix @src/");
    await page.getByRole("option", { name: "server.ts" }).waitFor();
    await page.keyboard.press("ArrowDown");
    await page.getByRole("option", { name: "store.ts", selected: true }).waitFor();
    await page.keyboard.press("Enter");
    await expect.poll(() => input(page).inputValue()).toBe("/fix @src/store.ts ");
    await page.getByRole("list", { name: "Attached" }).getByText("src/store.ts").waitFor();
    expect(await violations(page)).toEqual([]);
    await page.keyboard.press("Enter");
    const sent = page.getByRole("article", { name: /Prompt by/ });
    await sent.getByRole("list", { name: "Attached" }).getByText("store.ts").waitFor();
    await sent.getByText("/fix @src/store.ts").waitFor();
  }, 90_000);

  it("sends a picture, and makes a large one smaller before", async () => {
    const { page } = await open("echo");
    const png = await page.evaluate(async () => {
      const canvas = document.createElement("canvas");
      canvas.width = 3_000;
      canvas.height = 2_000;
      const context = canvas.getContext("2d");
      if (context === null) throw new Error("no canvas");
      for (let x = 0; x < 3_000; x += 3)
        for (let y = 0; y < 2_000; y += 40) {
          context.fillStyle = `rgb(${(x * 7) % 256} ${(y * 13) % 256} ${(x * y) % 256})`;
          context.fillRect(x, y, 3, 40);
        }
      return canvas.toDataURL("image/png").split(",")[1] ?? "";
    });
    await page
      .locator("input[type=file]")
      .first()
      .setInputFiles({
        name: "screen.png",
        mimeType: "image/png",
        buffer: Buffer.concat([Buffer.from(png, "base64"), Buffer.alloc(2 * 1024 * 1024)]),
      });
    await page.getByRole("img", { name: "screen.png" }).waitFor();
    expect(
      await page
        .getByRole("img", { name: "screen.png" })
        .evaluate((image) => (image as HTMLImageElement).naturalWidth),
    ).toBe(2_048);
    await input(page).fill("what is this?");
    await send(page);
    const sent = page.getByRole("article", { name: /Prompt by/ });
    await sent.getByRole("list", { name: "Attached" }).getByText("screen.png").waitFor();
    await page
      .locator("input[type=file]")
      .first()
      .setInputFiles({
        name: "notes.txt",
        mimeType: "text/plain",
        buffer: Buffer.from("no picture"),
      });
    await page.getByText("notes.txt is no picture that this browser can read.").waitFor();
  }, 90_000);

  it("stops a turn, and reserves the next one while it runs", async () => {
    const { page, agent } = await open("hold");
    await input(page).fill("first");
    await send(page);
    await feed(page).getByText("I wait.").waitFor();
    await input(page).fill("second");
    await page.getByRole("button", { name: "Queue" }).click();
    await page.getByText("One prompt waits for the end of this turn.").waitFor();
    await page.getByRole("button", { name: "Stop this turn" }).click();
    await page.getByText("Stopped", { exact: false }).first().waitFor();
    await page
      .getByRole("article", { name: /Prompt by/ })
      .getByText("second")
      .waitFor();
    await harness.command({ type: "cancel", agent });
  }, 90_000);

  it("keeps what the daemon refused, with the reason, to be changed and sent again", async () => {
    const agent = await harness.startAgent("echo");
    const page = await harness.open("/sessions");
    await page.evaluate((id) => {
      const base = location.pathname.replace(/[^/]*$/, "");
      const draft = { text: "look", attachments: ["missing.ts"], atMs: Date.now() };
      localStorage.setItem(`sallyport.draft ${base} ${id}`, JSON.stringify(draft));
    }, agent);
    await goTo(page, `/agent/${agent}`);
    await page.getByRole("list", { name: "Attached" }).getByText("missing.ts").waitFor();
    await send(page);
    const kept = page.getByRole("list", { name: "Not sent yet" });
    await kept.getByText("There is no such file.").waitFor();
    await kept.getByText("With missing.ts").waitFor();
    await kept.getByRole("button", { name: "Edit" }).click();
    await kept.waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Remove missing.ts" }).click();
    await send(page);
    await feed(page).getByText("You said: look").waitFor();
    await kept.waitFor({ state: "detached" });
  }, 90_000);
});

describe("the page of a conversation", () => {
  it.each([
    ["a phone", "phone", "light"],
    ["a phone in the dark", "phone", "dark"],
    ["a desk", "desk", "light"],
    ["a desk in the dark", "desk", "dark"],
  ] as const)(
    "is accessible on %s, with all there can be in it",
    async (_name, size, colorScheme) => {
      const { page } = await openDone("everything", 1, { size, colorScheme });
      expect(await violations(page)).toEqual([]);
      await wheel(page, -5_000);
      await page.getByRole("button", { name: "Thoughts" }).first().click();
      expect(await violations(page)).toEqual([]);
      await page.getByRole("button", { name: "Mode, model and thinking" }).click();
      expect(await violations(page)).toEqual([]);
    },
    120_000,
  );
});
