import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { goTo } from "../support/go-to.ts";
import { type Harness, startHarness, violations } from "../support/harness.ts";

let harness: Harness;

const call = (command: string) => [
  { type: "tool_started", call: "c", tool: "bash", input: { command } },
  { type: "tool_finished", call: "c", output: "played\n", exit_code: 0, when: { step: "c", is: "allowed" } },
  { type: "text_delta", text: "Denied.", when: { step: "c", is: "denied" } },
];

beforeAll(async () => {
  harness = await startHarness({
    scripts: {
      one: call("cargo test"),
      two: call("rm -rf build"),
      hidden: call("ls \u202egnp.sh # \u200bx\u0007"),
      ask: [
        {
          type: "question_asked",
          id: "q",
          questions: [
            {
              prompt: "Which store?",
              options: [{ label: "sqlite", description: "one file" }, { label: "postgres" }],
            },
            { prompt: "Which tables?", options: [{ label: "users" }, { label: "jobs" }], multiple: true },
            { prompt: "Anything else?" },
          ],
        },
        { type: "text_delta", text: "Got: {answer:q}.", when: { step: "q", is: "answered" } },
        { type: "text_delta", text: "No answer then.", when: { step: "q", is: "cancelled" } },
      ],
    },
  });
}, 120_000);
afterAll(() => harness?.dispose());
afterEach(async () => {
  await harness.closePages();
  const { pending, questions } = await harness.snapshot();
  for (const { request_id } of pending)
    await harness.command({ type: "approve", request_id, decision: "deny" });
  for (const { request_id } of questions)
    await harness.command({ type: "answer", request_id, cancelled: true });
});

/** An agent that waits for an answer to a call or question. */
async function ask(script: string): Promise<string> {
  const agent = await harness.startAgent(script);
  await harness.command({ type: "prompt", agent, text: "go" });
  await expect.poll(() => harness.agentState(agent)).toBe("waiting");
  return agent;
}
const requests = async () => (await harness.snapshot()).pending.map(({ request_id }) => request_id);
async function requestOf(agent: string): Promise<string> {
  const { pending, questions } = await harness.snapshot();
  return [...pending, ...questions].find((request) => request.agent === agent)?.request_id ?? "none";
}
async function finished(agent: string): Promise<Record<string, unknown> | undefined> {
  await expect.poll(() => harness.agentState(agent)).toBe("idle");
  const { json } = await harness.daemon.request("GET", `/api/sessions/${agent}`);
  const { records } = json as { records: Record<string, unknown>[] };
  return records.find(({ type }) => type === "tool_finished");
}
const sheet = (page: Page) => page.locator("dialog[open]");
const card = (page: Page, request: string) => sheet(page).locator(`[data-request="${request}"]`);
/** Until presses count: what has just appeared takes none. */
const settled = (page: Page) =>
  page.waitForFunction(
    () => document.querySelector(".answers") !== null && document.querySelector(".resting") === null,
  );

describe("an approval", () => {
  it("is there on every page, shows the whole call and where it runs, and is answered with a thumb", async () => {
    const page = await harness.open("/sessions");
    const agent = await ask("one");
    await page.locator(".approvals-bar").click();
    const shown = card(page, await requestOf(agent));
    await shown.getByText("cargo test", { exact: true }).waitFor();
    await shown.getByText(harness.folder, { exact: true }).waitFor();
    await shown.getByRole("link", { name: "one" }).waitFor();
    await shown.getByText("exactly this, without asking again").waitFor();
    for (const button of await shown.getByRole("button").all())
      expect((await button.boundingBox())?.height).toBeGreaterThanOrEqual(44);
    await settled(page);
    await shown.getByRole("button", { name: "Allow once" }).click();
    await shown.getByText(/^Allowed by /).waitFor();
    expect(await finished(agent)).toMatchObject({ exit_code: 0, is_error: false });
    // Nothing else waits: the sheet goes, and the page is as it was.
    await sheet(page).waitFor({ state: "detached" });
    expect(page.url()).toContain("#/sessions");
  }, 90_000);

  it("writes out the characters that hide", async () => {
    const agent = await ask("hidden");
    const page = await harness.open(`/approvals/${await requestOf(agent)}`);
    await page.locator("main").getByText("ls ⟨U+202E⟩gnp.sh # ⟨U+200B⟩x⟨U+0007⟩", { exact: true }).waitFor();
  }, 90_000);

  it("shows at once that it was answered elsewhere, keeps its place for a while, and takes no answer", async () => {
    const agent = await ask("one");
    const other = await ask("two");
    const page = await harness.open("/approvals");
    const request = await requestOf(agent);
    const shown = page.locator(`main [data-request="${request}"]`);
    const below = page.locator(`main [data-request="${await requestOf(other)}"]`);
    await shown.waitFor();
    await harness.command({ type: "approve", request_id: request, decision: "deny" });
    await shown.getByText("Denied by local.").waitFor();
    expect(await shown.getByRole("button").count()).toBe(0);
    await shown.waitFor({ state: "detached" });
    expect(await below.getByRole("button", { name: "Allow once" }).count()).toBe(1);
  }, 90_000);

  it("says so when somebody else was quicker and the page did not hear of it yet", async () => {
    const agent = await ask("one");
    const page = await harness.open("/");
    await page.routeWebSocket(/\/api\/ws/, (socket) => {
      const server = socket.connectToServer();
      server.onMessage((message) => {
        if (!String(message).includes("permission_resolved")) socket.send(message);
      });
    });
    await page.reload();
    await page.locator(".approvals-bar").click();
    await settled(page);
    const request = await requestOf(agent);
    await harness.command({ type: "approve", request_id: request, decision: "deny" });
    await card(page, request).getByRole("button", { name: "Allow once" }).click();
    await card(page, request)
      .getByText(/Answered on/)
      .waitFor();
    expect(await finished(agent)).toMatchObject({ is_error: true });
  }, 90_000);

  it("a list that moves under the thumb: a press that began before the movement answers nothing", async () => {
    const first = await ask("one");
    const page = await harness.open("/");
    await page.locator(".approvals-bar").click();
    await settled(page);
    const target = card(page, await requestOf(first)).getByRole("button", { name: "Allow once" });
    const box = await target.boundingBox();
    if (box === null) throw new Error("no button");
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    await page.mouse.down();
    const second = await ask("two");
    await card(page, await requestOf(second)).waitFor();
    await page.mouse.up();
    // The moment has passed; and the same press a while later counts.
    expect(await requests()).toHaveLength(2);
    await settled(page);
    await target.click();
    await expect.poll(() => harness.agentState(first)).toBe("idle");
    expect(await harness.agentState(second)).toBe("waiting");
  }, 90_000);

  it("a sheet that opens under the thumb: a second tap in the same place answers nothing", async () => {
    const agent = await ask("one");
    const page = await harness.open("/");
    await page.locator(".approvals-bar").click();
    await page.evaluate(() => document.querySelector<HTMLElement>("dialog[open] .answers .primary")?.click());
    await settled(page);
    expect(await requests()).toEqual([await requestOf(agent)]);
  }, 90_000);

  it("a card belongs to its request for ever: answering one of two answers that one", async () => {
    const [first, second] = [await ask("one"), await ask("two")];
    const page = await harness.open("/approvals");
    await settled(page);
    await page
      .locator(`main [data-request="${await requestOf(second)}"]`)
      .getByRole("button", { name: "Deny" })
      .click();
    await expect.poll(() => harness.agentState(second)).toBe("idle");
    expect(await harness.agentState(first)).toBe("waiting");
  }, 90_000);

  it("is answered by keyboard, and the focus never falls to the answer of another request", async () => {
    const [first, second] = [await ask("one"), await ask("two")];
    const page = await harness.open("/approvals", { size: "desk" });
    await settled(page);
    const deny = page
      .locator(`main [data-request="${await requestOf(first)}"]`)
      .getByRole("button", { name: "Deny" });
    await deny.focus();
    await page.keyboard.press("Enter");
    await expect.poll(() => harness.agentState(first)).toBe("idle");
    await page.locator("main .request-card").nth(1).waitFor({ state: "detached" });
    await page.keyboard.press("Enter");
    await page.keyboard.press("Space");
    expect(await harness.agentState(second)).toBe("waiting");
    expect(await page.evaluate(() => document.activeElement?.textContent)).not.toBe("Deny");
  }, 90_000);

  it("remembers for the session what the rule says, when it is asked to", async () => {
    const agent = await ask("one");
    const page = await harness.open("/approvals");
    await settled(page);
    await page.getByRole("button", { name: "Allow for the session" }).click();
    await expect.poll(() => harness.agentState(agent)).toBe("idle");
    await harness.command({ type: "prompt", agent, text: "again" });
    expect(await finished(agent)).toMatchObject({ exit_code: 0 });
    expect(await requests()).toEqual([]);
  }, 90_000);

  it("is shown to a device that may not approve, without a way to answer", async () => {
    await ask("one");
    const page = await harness.open("/approvals", { scopes: ["view", "drive"] });
    await page.locator("main").getByText("This device may look, but not answer.").waitFor();
    expect(await page.locator("main .request-card button").count()).toBe(0);
  }, 90_000);

  it("offers no rule for the session to a device that may not drive", async () => {
    await ask("one");
    const page = await harness.open("/approvals", { scopes: ["view", "approve"] });
    await page.getByRole("button", { name: "Allow once" }).waitFor();
    expect(await page.getByRole("button", { name: "Allow for the session" }).count()).toBe(0);
  }, 90_000);

  it("leads back from a notification to what became of it", async () => {
    const page = await harness.open("/approvals/01a17453-0005-7000-8000-000000000005");
    await page.getByText("What was asked here is no longer open.").waitFor();
  }, 90_000);
});

describe("a question", () => {
  it("takes options, several of them, and words of one's own", async () => {
    const agent = await ask("ask");
    const page = await harness.open("/");
    await page.locator(".approvals-bar").click();
    const shown = card(page, await requestOf(agent));
    await settled(page);
    await shown.getByRole("button", { name: "Answer", exact: true }).click();
    await shown.getByText("Question 1 has no answer yet.").waitFor();
    await shown.getByLabel(/sqlite/).check();
    await shown.getByLabel("jobs").check();
    await shown.getByLabel("users").check();
    await shown.getByLabel("Something else").nth(1).fill("devices");
    await shown.getByLabel("Your answer").fill("No.");
    await settled(page);
    await shown.getByRole("button", { name: "Answer", exact: true }).click();
    await expect.poll(() => harness.agentState(agent)).toBe("idle");
    const { json } = await harness.daemon.request("GET", `/api/sessions/${agent}`);
    const { records } = json as { records: Record<string, unknown>[] };
    expect(records.find(({ type }) => type === "question_resolved")).toMatchObject({
      answers: ["sqlite", "users\njobs\ndevices", "No."],
    });
  }, 90_000);

  it("on a small phone: shows with every option that the answer is still to be sent", async () => {
    const agent = await ask("ask");
    const page = await harness.open("/");
    await page.setViewportSize({ width: 320, height: 568 });
    await page.locator(".approvals-bar").click();
    const shown = card(page, await requestOf(agent));
    await shown.getByLabel(/sqlite/).check();
    const box = await shown.getByRole("button", { name: "Answer", exact: true }).boundingBox();
    expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThanOrEqual(568);
  }, 90_000);

  it("can be closed without an answer, and the agent goes on", async () => {
    const agent = await ask("ask");
    const page = await harness.open("/approvals");
    await settled(page);
    await page.getByRole("button", { name: "No answer" }).click();
    await page
      .locator("main")
      .getByText(/^Closed by /)
      .waitFor();
    await expect.poll(() => harness.agentState(agent)).toBe("idle");
  }, 90_000);

  it("keeps what was chosen, wherever it is shown next", async () => {
    const agent = await ask("ask");
    const page = await harness.open("/approvals");
    await page
      .locator("main")
      .getByLabel(/postgres/)
      .check();
    await goTo(page, "/sessions");
    await page.locator(".approvals-bar").click();
    expect(
      await card(page, await requestOf(agent))
        .getByLabel(/postgres/)
        .isChecked(),
    ).toBe(true);
  }, 90_000);
});

describe("what waits", () => {
  it.each([
    ["a phone", "phone", "light"],
    ["a phone in the dark", "phone", "dark"],
    ["a desk", "desk", "light"],
    ["a desk in the dark", "desk", "dark"],
  ] as const)(
    "is accessible on %s",
    async (_name, size, colorScheme) => {
      await ask("one");
      await ask("ask");
      const page = await harness.open("/approvals", { size, colorScheme });
      await settled(page);
      expect(await violations(page)).toEqual([]);
      await goTo(page, "/sessions");
      if (size === "phone" || (await page.locator(".approvals-bar").isVisible()))
        await page.locator(".approvals-bar").click();
      await settled(page);
      expect(await violations(page)).toEqual([]);
    },
    90_000,
  );
});
