import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { Device, Remote } from "../../../src/protocol/objects.ts";
import { freePort } from "../../helpers/free-port.ts";
import { goTo } from "../support/go-to.ts";
import { dismissToasts, expectGoodForAll, poll, type Stand, startStand, tabTo } from "../support/stand.ts";

let stand: Stand;
/** The way of a forwarder: what comes there is remote. */
let door: string;

beforeAll(async () => {
  const port = await freePort();
  door = `http://127.0.0.1:${port}`;
  stand = await startStand({
    async prepare(root) {
      const tool = join(root, "loop");
      await writeFile(tool, '#!/bin/sh\necho "listening at http://127.0.0.1:$1"\nexec sleep 600\n', {
        mode: 0o755,
      });
      const script = join(root, "spend.jsonl");
      const usage = { type: "usage", input_tokens: 15_200, output_tokens: 840, cost: 0.043 };
      await writeFile(
        script,
        [{ type: "text_delta", text: "Done." }, usage].map((step) => JSON.stringify(step)).join("\n"),
      );
      return [
        `[[door]]\nlisten = ${port}\nurl = "${door}"`,
        "[tunnel]\ninsecure_http = true",
        `[tunnel.command]\ncommand = ["${tool}", "{port}"]\nurl_pattern = "http://\\\\S+"`,
        `[tunnel.ngrok]\nbinary = "${join(root, "no-such-program")}"`,
        `[replay.spend]\nscript = "${script}"`,
        "",
      ].join("\n");
    },
  });
}, 120_000);
afterAll(() => stand?.dispose());
afterEach(async () => {
  await stand.daemon.request("POST", "/api/remote", { body: { access: "off" } });
  await stand.closePages();
});

const remote = async () => (await stand.daemon.request("GET", "/api/remote")).json as Remote;
const devices = async () =>
  ((await stand.daemon.request("GET", "/api/devices")).json as { devices: Device[] }).devices;
const deviceRow = (page: Page, name: string) =>
  page.getByRole("list", { name: "Devices" }).getByRole("listitem").filter({ hasText: name });
async function choose(page: Page, name: string, item: string): Promise<void> {
  await deviceRow(page, name).first().getByRole("button").click();
  await page.getByRole("menuitem", { name: item, exact: true }).click();
}
/** A second device of that name, connected. */
async function visitor(name: string, scopes?: readonly string[]): Promise<{ page: Page; id: string }> {
  const before = new Set((await devices()).map(({ id }) => id));
  const page = await stand.open("/jobs", scopes ? { scopes } : {});
  const own = (await devices()).find(({ id }) => !before.has(id));
  if (own === undefined) throw new Error("It was not paired.");
  await stand.daemon.request("PATCH", `/api/devices/${own.id}`, { body: { name } });
  return { page, id: own.id };
}

describe("one more device", () => {
  it.each(["phone", "desk"] as const)(
    "comes in with the code that a %s shows, with what it was given and no more",
    async (size) => {
      await stand.daemon.request("POST", "/api/remote", { body: { access: "tunnel" } });
      const page = await stand.open("/remote", { size });
      await page.getByRole("button", { name: "Pair another" }).click();
      const dialog = page.getByRole("dialog");
      await dialog.getByRole("switch", { name: "Manage" }).click();
      await dialog.getByRole("switch", { name: "Approve" }).click();
      await dialog.getByText("It cannot run anything without an answer").waitFor();
      await dialog.getByLabel("For how long").selectOption("A week");
      await expectGoodForAll(page);
      await dialog.getByRole("button", { name: "Show the code" }).click();
      await dialog.getByRole("img", { name: `QR code for ${door}` }).waitFor();
      await expectGoodForAll(page);
      const code = (await dialog.locator(".pair-code").textContent()) ?? "";
      const second = await stand.openBare();
      await second.goto(door);
      await second.getByLabel("Pairing code").fill(code);
      await second.getByLabel("Name of this device").fill(`Tablet of a ${size}`);
      await second.getByRole("button", { name: "Pair", exact: true }).click();
      await second.getByText("Live", { exact: true }).waitFor();
      await page.getByRole("dialog", { name: "Paired" }).waitFor();
      await page.getByRole("button", { name: "Done" }).click();
      const row = deviceRow(page, `Tablet of a ${size}`);
      await row.getByText("Look, Prompt").waitFor();
      await row.getByText("Connected now").waitFor();
      const device = (await devices()).find(({ name }) => name === `Tablet of a ${size}`);
      expect(device?.scopes).toEqual(["view", "drive"]);
      expect(Date.parse(device?.expires ?? "") - Date.now()).toBeGreaterThan(6 * 24 * 3_600_000);
    },
    90_000,
  );

  it("is not promised an address that only this machine reaches", async () => {
    const page = await stand.open("/remote");
    await page.getByRole("button", { name: "Pair another" }).click();
    await page.getByRole("button", { name: "Show the code" }).click();
    await page.getByText("Only the daemon's machine reaches this address.").waitFor();
    expect(await page.getByRole("dialog").getByRole("img").count()).toBe(0);
  }, 90_000);

  it("is paired by keyboard alone", async () => {
    const page = await stand.open("/remote", { size: "desk" });
    await tabTo(page, page.getByRole("button", { name: "Pair another" }));
    await page.keyboard.press("Enter");
    await tabTo(page, page.getByRole("switch", { name: "Manage" }));
    await page.keyboard.press("Space");
    await tabTo(page, page.getByRole("button", { name: "Show the code" }));
    await page.keyboard.press("Enter");
    await page.locator(".pair-code").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
  }, 90_000);
});

describe("a device", () => {
  it("is named, gets other scopes while it is here, and is thrown out", async () => {
    const page = await stand.open("/remote");
    const guest = await visitor("Guest");
    await goTo(page, "/about");
    await goTo(page, "/remote");
    await choose(page, "Guest", "Rename");
    await page.getByRole("dialog").getByLabel("Name").fill("Guest of honour");
    await page.getByRole("button", { name: "Rename", exact: true }).click();
    await deviceRow(page, "Guest of honour").waitFor();
    await guest.page.getByRole("button", { name: "Start a job" }).waitFor();
    await choose(page, "Guest of honour", "What it may do");
    for (const name of ["Prompt", "Approve", "Manage"]) await page.getByRole("switch", { name }).click();
    await expectGoodForAll(page);
    await page.getByRole("button", { name: "Save" }).click();
    await deviceRow(page, "Guest of honour").getByText("Look", { exact: true }).waitFor();
    // No change tells the guest; the first refusal does, in words, and takes away what is no longer to be had.
    await guest.page.getByRole("button", { name: "Start a job" }).click();
    await guest.page.getByLabel("Command").fill("echo hello");
    await guest.page.keyboard.press("Enter");
    await guest.page
      .getByRole("dialog")
      .getByText(/may not|lacks|needs/)
      .waitFor();
    await guest.page.keyboard.press("Escape");
    await guest.page.getByRole("button", { name: "Start a job" }).waitFor({ state: "detached" });
    await choose(page, "Guest of honour", "Revoke");
    await page.getByRole("dialog", { name: "Revoke Guest of honour?" }).waitFor();
    await expectGoodForAll(page);
    await page.getByRole("button", { name: "Revoke", exact: true }).click();
    await guest.page.getByRole("heading", { name: "This browser is no longer paired" }).waitFor();
    await poll(() => deviceRow(page, "Guest of honour").count()).toBe(0);
    expect((await devices()).map(({ id }) => id)).not.toContain(guest.id);
  }, 120_000);

  it("learns of other scopes when its page is looked at again, before anything is refused", async () => {
    const { page, id } = await visitor("Away");
    await page.getByRole("button", { name: "Start a job" }).waitFor();
    await stand.daemon.request("PATCH", `/api/devices/${id}`, { body: { scopes: ["view"] } });
    await page.evaluate(() => document.dispatchEvent(new Event("visibilitychange", { bubbles: true })));
    await page.getByRole("button", { name: "Start a job" }).waitFor({ state: "detached" });
  }, 60_000);

  it("signs itself out, also without the right to manage", async () => {
    const { page, id } = await visitor("Leaving", ["view"]);
    await goTo(page, "/remote");
    expect(await page.getByRole("list", { name: "Devices" }).getByRole("button").count()).toBe(1);
    await choose(page, "Leaving", "Rename");
    await page.getByRole("dialog").getByLabel("Name").fill("Left");
    await page.getByRole("button", { name: "Rename", exact: true }).click();
    await choose(page, "Left", "Sign this device out");
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("heading", { name: "This browser is no longer paired" }).waitFor();
    expect((await devices()).map((device) => device.id)).not.toContain(id);
  }, 90_000);

  it("that takes its own right to manage is warned, and loses what goes with it", async () => {
    const { page } = await visitor("Stepping down");
    await goTo(page, "/remote");
    await choose(page, "Stepping down", "What it may do");
    await page.getByRole("switch", { name: "Manage" }).click();
    await page.getByText("This device could not give it back to itself.").waitFor();
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("button", { name: "Pair another" }).waitFor({ state: "detached" });
    expect(await page.getByRole("button", { name: "Start a tunnel" }).count()).toBe(0);
    expect(await page.getByRole("radio", { name: "Off" }).count()).toBe(0);
  }, 90_000);
});

describe("access", () => {
  it("is switched, and a choice that is asked about first is not made", async () => {
    await stand.daemon.request("POST", "/api/remote", { body: { access: "tunnel" } });
    const page = await stand.open("/remote", { base: door });
    const off = page.getByRole("radio", { name: "Off" });
    await off.check({ force: true });
    await page.getByRole("dialog", { name: "Cut this page off?" }).waitFor();
    await expectGoodForAll(page);
    await page.getByRole("button", { name: "Leave it as it is" }).click();
    await poll(() => page.getByRole("radio", { name: "Tunnel" }).isChecked()).toBe(true);
    expect((await remote()).access).toBe("tunnel");
    await off.check({ force: true });
    await page.getByRole("button", { name: "Cut it off" }).click();
    await page.getByRole("heading", { name: "Remote access is off" }).waitFor();
    await poll(async () => (await remote()).access).toBe("off");
  }, 90_000);

  it("is switched without a question where this page stays", async () => {
    const page = await stand.open("/remote", { size: "desk" });
    await page.getByText("Only programs on the daemon's machine reach it.").waitFor();
    await page.getByRole("radio", { name: "Tunnel" }).check({ force: true });
    await page.getByRole("list", { name: "Addresses" }).getByText(door).waitFor();
    await poll(async () => (await remote()).access).toBe("tunnel");
    await page.getByRole("radio", { name: "Off" }).check({ force: true });
    await poll(async () => (await remote()).access).toBe("off");
  }, 90_000);
});

describe("a tunnel", () => {
  it.each([
    ["cloudflared", { "Host name (optional)": "no host name" }, /^Host name/],
    [
      "ssh",
      { Server: "-oProxyCommand=x", "Port there": "9000", Address: "https://sally.example" },
      /^Server/,
    ],
    ["ssh", { Server: "me@box.example", "Port there": "many", Address: "https://sally.example" }, /^Port/],
    ["ssh", { Server: "me@box.example", "Port there": "9000", Address: "not an address" }, /^Address/],
  ] as const)(
    "of %s says what is wrong beside the field: %o",
    async (provider, fields, wrong) => {
      const page = await stand.open("/remote");
      await page.getByRole("button", { name: "Start a tunnel" }).click();
      const dialog = page.getByRole("dialog", { name: "Start a tunnel" });
      await dialog.getByLabel("By").selectOption(provider);
      if (provider === "ssh") {
        await dialog.getByRole("button", { name: "Start", exact: true }).click();
        await dialog.getByText("This is needed.").waitFor();
      }
      for (const [label, value] of Object.entries(fields))
        await dialog.getByLabel(label, { exact: true }).fill(value);
      await dialog.getByRole("button", { name: "Start", exact: true }).click();
      const field = dialog.getByLabel(wrong);
      await poll(() => field.getAttribute("aria-invalid")).toBe("true");
      const described = (await field.getAttribute("aria-describedby"))?.split(" ")[0] ?? "";
      expect(await page.locator(`[id="${described}"]`).textContent()).not.toBe("");
      expect((await remote()).tunnel.state).toBe("off");
    },
    60_000,
  );

  it("of a program that is not there says what to do", async () => {
    const page = await stand.open("/remote");
    await page.getByRole("button", { name: "Start a tunnel" }).click();
    await page.getByRole("dialog").getByLabel("By").selectOption("ngrok");
    await page.getByRole("dialog").getByRole("button", { name: "Start", exact: true }).click();
    await page.getByRole("dialog").getByRole("alert").filter({ hasText: /ngrok/ }).waitFor();
  }, 60_000);

  it("has the fields of each provider, for everybody", async () => {
    const page = await stand.open("/remote");
    await page.getByRole("button", { name: "Start a tunnel" }).click();
    for (const provider of ["cloudflared", "tailscale", "ngrok", "ssh", "command"]) {
      await page.getByRole("dialog").getByLabel("By").selectOption(provider);
      await expectGoodForAll(page);
    }
  }, 120_000);

  it("of a program of the configuration goes up and down, and its address is offered", async () => {
    const page = await stand.open("/remote");
    await page.getByRole("button", { name: "Start a tunnel" }).click();
    await page.getByRole("dialog").getByLabel("By").selectOption("command");
    await page.getByRole("dialog").getByRole("button", { name: "Start", exact: true }).click();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page.locator("main").getByText("Up", { exact: true }).waitFor({ timeout: 60_000 });
    const { tunnel } = await remote();
    expect(tunnel).toMatchObject({ state: "up", provider: "command" });
    await page
      .locator("main")
      .getByText(tunnel.url ?? "no address")
      .first()
      .waitFor();
    await dismissToasts(page);
    await expectGoodForAll(page);
    await page.getByRole("button", { name: "Stop it" }).click();
    await page.getByRole("button", { name: "Start a tunnel" }).waitFor();
    await poll(async () => (await remote()).tunnel.state).toBe("off");
  }, 120_000);
});

describe("settings", () => {
  const idleMinutes = async () => {
    const { json } = await stand.daemon.request("GET", "/api/settings");
    return (json as { settings: { key: string; value: unknown }[] }).settings.find(
      ({ key }) => key === "daemon.idle_minutes",
    )?.value;
  };

  it.each(["phone", "desk"] as const)(
    "are changed, refused with the reason, and taken out again: on a %s",
    async (size) => {
      const page = await stand.open("/settings", { size });
      await page.getByLabel("Search settings").fill("idle_minutes");
      const field = page.getByLabel("daemon.idle_minutes");
      await field.fill("a lot");
      await page.getByRole("button", { name: "Save" }).click();
      await page.getByText("Write a whole number.").waitFor();
      await field.fill("-5");
      await page.getByRole("button", { name: "Save" }).click();
      await poll(() => field.getAttribute("aria-invalid")).toBe("true");
      await expectGoodForAll(page);
      await field.fill("61");
      await page.keyboard.press("Enter");
      await page.getByText("Saved.").waitFor();
      expect(await idleMinutes()).toBe(61);
      await poll(() => page.getByRole("button", { name: "Save" }).count()).toBe(0);
      await field.fill("");
      await page.keyboard.press("Enter");
      await poll(idleMinutes).toBe(120);
      await poll(() => field.inputValue()).toBe("120");
    },
    90_000,
  );

  it("that name programs or parts of the gate are shown, and not to be changed here", async () => {
    const page = await stand.open("/settings");
    await page.getByLabel("Search settings").fill("tunnel.command");
    await page.getByText("tunnel.command.command").waitFor();
    expect(await page.locator(".setting input, .setting textarea, .setting select").count()).toBe(0);
    await page.getByLabel("Search settings").fill("no such thing");
    await page.getByText("No such setting").waitFor();
  }, 90_000);

  it("are read only for a device that may not manage", async () => {
    const page = await stand.open("/settings", { scopes: ["view"] });
    await page.getByText("daemon.idle_minutes").waitFor();
    expect(await page.locator(".setting input, .setting textarea, .setting select").count()).toBe(0);
    expect(await page.getByRole("heading", { name: "Keep the machine awake" }).count()).toBe(0);
    await goTo(page, "/remote");
    for (const name of ["Pair another", "Start a tunnel"])
      expect(await page.getByRole("button", { name }).count()).toBe(0);
    await goTo(page, "/about");
    await page.getByText("This device may").waitFor();
  }, 90_000);
});

describe("usage", () => {
  it.each(["phone", "desk"] as const)(
    "is shown by day and by model on a %s",
    async (size) => {
      const { agent } = await stand.command({ type: "agent_start", runtime: "replay", model: "spend" });
      await stand.command({ type: "prompt", agent, text: "spend" });
      await poll(async () => {
        const { json } = await stand.daemon.request("GET", "/api/usage");
        return (json as { today: { output_tokens: number } }).today.output_tokens;
      }).toBeGreaterThan(0);
      const page = await stand.open("/usage", { size });
      await page.getByText("Today").waitFor();
      await page.getByRole("table", { name: "By model" }).getByText("spend").waitFor();
      expect(await page.locator(".usage-chart .bar").count()).toBe(30);
      expect(await page.getByRole("table", { name: "Tokens by day" }).getByRole("row").count()).toBe(2);
      await page.locator(".usage-chart g").last().hover();
      await page.locator("figcaption").getByText("tokens").waitFor();
      await expectGoodForAll(page);
      await page.getByRole("radio", { name: "7 days" }).check({ force: true });
      await poll(() => page.locator(".usage-chart .bar").count()).toBe(7);
    },
    90_000,
  );
});

describe("about", () => {
  it("tells what a report needs, and nothing of whose machine it is", async () => {
    const page = await stand.open("/about");
    await page.getByText("Running since").waitFor();
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.getByRole("button", { name: "Copy for a report" }).click();
    await page.getByText("Copied.").waitFor();
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    expect(copied).toContain("Sallyport ");
    expect(copied).not.toContain(stand.root);
    expect(copied).not.toContain("127.0.0.1");
  }, 90_000);
});
