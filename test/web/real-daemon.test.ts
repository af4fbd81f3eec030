import { mkdtemp, readFile, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { disposeDaemons, startTestDaemon, type TestDaemon } from "../helpers/daemon.ts";
import { freePort } from "../helpers/free-port.ts";
import { launchBrowser, viewports } from "./browser.ts";
import { startTlsEdge, type TlsEdge } from "./tls-edge.ts";

let browser: Browser;
let daemon: TestDaemon;
let front: TlsEdge;
let folder: string;
let base: string;
const contexts: BrowserContext[] = [];
const complaints: string[] = [];

beforeAll(async () => {
  browser = await launchBrowser(["--ignore-certificate-errors"]);
  folder = await realpath(await mkdtemp(join(tmpdir(), "sallyport-page-")));
  const door = await freePort();
  front = await startTlsEdge(door);
  base = `https://localhost:${front.port}/desk`;
  daemon = await startTestDaemon({
    cwd: folder,
    config: `[[door]]\nlisten = ${door}\nurl = "${base}"\n`,
  });
  await daemon.request("POST", "/api/remote", { body: { access: "tunnel" } });
}, 120_000);
afterAll(async () => {
  await browser?.close();
  await disposeDaemons();
  await front?.close();
  await rm(folder, { recursive: true, force: true });
});
beforeEach(() => {
  complaints.length = 0;
});
afterEach(async () => {
  for (const context of contexts.splice(0)) await context.close();
  expect(complaints).toEqual([]);
});

async function openPage(size: keyof typeof viewports, context?: BrowserContext): Promise<Page> {
  const own = context ?? (await browser.newContext({ viewport: viewports[size] }));
  if (context === undefined) contexts.push(own);
  const page = await own.newPage();
  page.setDefaultTimeout(60_000);
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("console", (message) => {
    if (/Content Security Policy|Trusted|Opener-Policy/i.test(message.text()))
      complaints.push(message.text());
  });
  return page;
}
const poll: typeof expect.poll = (read) => expect.poll(read, { timeout: 60_000 });
const live = (page: Page) => page.getByText("Live", { exact: true }).waitFor();

/** A phone that paired by the link of `sallyport pair`. */
async function pairPhone(scopes?: readonly string[]): Promise<Page> {
  const { json } = await daemon.request("POST", "/api/pair/codes", { body: scopes ? { scopes } : {} });
  const { offers } = json as { offers: { kind: string; link: string }[] };
  const link = offers.find((offer) => offer.kind === "tunnel")?.link ?? "";
  expect(link.startsWith(`${base}/#pair=`)).toBe(true);
  const page = await openPage("phone");
  await page.goto(link);
  await live(page);
  expect(page.url()).toBe(`${base}/`);
  return page;
}
async function devices(): Promise<{ id: string; name: string; kind: string; last_seen: string }[]> {
  return ((await daemon.request("GET", "/api/devices")).json as { devices: never[] }).devices;
}
async function command(body: object): Promise<Record<string, string>> {
  const answer = await daemon.request("POST", "/api/command", { body });
  expect(answer.status).toBe(200);
  return answer.json as Record<string, string>;
}

describe("the page, from a real daemon", () => {
  it("pairs a phone by its link through a door with TLS, below a base path, and stays paired", async () => {
    const page = await pairPhone();
    await page.reload();
    await live(page);
    await page.getByRole("link", { name: "Jobs" }).click();
    await poll(() => page.title()).toContain("Jobs");
    await page.goBack();
    await poll(() => page.title()).not.toContain("Jobs");
    const headers = (await page.goto(`${base}/?again`))?.headers() ?? {};
    expect(headers["cross-origin-opener-policy"]).toBe("same-origin");
    expect(headers["content-security-policy"]).toContain("require-trusted-types-for 'script'");
  }, 120_000);

  it("signs in by the ticket of `sallyport web`, for this machine only, and never holds the master token", async () => {
    const { json } = await daemon.request("POST", "/api/ws/ticket", { body: { purpose: "page" } });
    const page = await openPage("desk");
    await page.goto(`${daemon.url}/#ticket=${(json as { ticket: string }).ticket}`);
    await live(page);
    expect(page.url()).toBe(`${daemon.url}/`);
    const kept = await page.evaluate(
      () =>
        new Promise<unknown[]>((resolve) => {
          const opening = indexedDB.open("sallyport /");
          opening.onsuccess = () => {
            const reading = opening.result.transaction("values").objectStore("values").getAll();
            reading.onsuccess = () => resolve(reading.result);
          };
        }),
    );
    expect(JSON.stringify(kept)).toContain("spd_");
    expect(JSON.stringify(kept)).not.toContain(await readFile(join(daemon.home, "daemon.token"), "utf8"));
    // The ticket was used; the page says what to do.
    const second = await openPage("desk");
    await second.goto(`${daemon.url}/#ticket=${(json as { ticket: string }).ticket}`);
    await second.getByText("sallyport web --open").first().waitFor();
  }, 120_000);

  it("shows the same to a phone and to two windows of a desk, as it happens", async () => {
    const phone = await pairPhone();
    const desk = await openPage("desk");
    const { json } = await daemon.request("POST", "/api/ws/ticket", { body: { purpose: "page" } });
    await desk.goto(`${daemon.url}/#ticket=${(json as { ticket: string }).ticket}`);
    await live(desk);
    const window2 = await openPage("desk", desk.context());
    await window2.goto(`${daemon.url}/`);
    await live(window2);
    const { request_id: _id, ...prompted } = await command({ type: "prompt", text: "touch made-by-a-test" });
    for (const page of [phone, desk, window2]) await poll(() => page.title()).toMatch(/^\(1\) /);
    await poll(() => window2.locator(".tree-agent.current, .tree-agent").count()).toBeGreaterThan(0);
    const snapshot = (await daemon.request("GET", "/api/snapshot")).json as {
      pending: { request_id: string }[];
    };
    await command({ type: "approve", request_id: snapshot.pending[0]?.request_id, decision: "deny" });
    for (const page of [phone, desk, window2]) await poll(() => page.title()).not.toMatch(/^\(/);
    expect(prompted.agent).toBeTruthy();
  }, 120_000);

  it("says that the connection is lost, comes back with what it missed, and says so", async () => {
    const phone = await pairPhone();
    front.setDown(true);
    await phone.getByText(/Reconnecting in \d+ s|Offline/).waitFor();
    await command({ type: "prompt", text: "touch made-meanwhile" });
    front.setDown(false);
    await live(phone);
    await poll(() => phone.title()).toMatch(/^\(1\) /);
    const { json } = await daemon.request("GET", "/api/snapshot");
    const { pending } = json as { pending: { request_id: string }[] };
    await command({ type: "approve", request_id: pending[0]?.request_id, decision: "deny" });
  }, 120_000);

  it("is all that a phone needs: prompt, allow, watch a job", async () => {
    const phone = await pairPhone();
    const { agent } = await command({ type: "agent_start" });
    await phone.goto(`${base}/#/agent/${agent}`);
    await phone.getByRole("textbox", { name: "Command" }).fill("echo made > by-a-phone.txt");
    await phone.getByRole("button", { name: "Send" }).click();
    await phone.getByText("Review", { exact: true }).last().click();
    const allow = phone.getByRole("dialog").getByRole("button", { name: "Allow once" });
    // A tap right after something moved does not count: a person looks and taps again.
    const isMade = async (): Promise<boolean> => {
      if (await allow.isVisible()) await allow.click();
      return (await readFile(join(folder, "by-a-phone.txt"), "utf8").catch(() => "")) === "made\n";
    };
    await expect.poll(isMade, { timeout: 60_000, interval: 300 }).toBe(true);
    await poll(() => phone.title()).not.toMatch(/^\(/);
    await phone.goto(`${base}/#/`);
    await command({ type: "job_start", command: "while :; do echo tick; sleep 1; done" });
    await phone.getByRole("link", { name: "Jobs" }).click();
    await phone.getByRole("link", { name: /echo tick/ }).click();
    await phone.getByText("tick").nth(2).waitFor();
    await phone.getByRole("button", { name: "Stop", exact: true }).click();
    await phone.getByRole("dialog").getByRole("button", { name: "Stop it" }).click();
    await phone.getByText("Stopped").first().waitFor();
  }, 120_000);

  it("keeps a prompt that was typed without a connection, over a reload, and sends it once", async () => {
    const phone = await pairPhone();
    const { agent } = await command({ type: "agent_start" });
    await phone.goto(`${base}/#/agent/${agent}`);
    const input = phone.getByRole("textbox", { name: "Command" });
    await input.waitFor();
    await phone.evaluate(async () => void (await navigator.serviceWorker.ready));
    front.setDown(true);
    await phone.getByText(/Reconnecting in \d+ s/).waitFor();
    for (const text of ["echo to-be-discarded", "echo written-in-a-tunnel"]) {
      await input.fill(text);
      await phone.getByRole("button", { name: "Send" }).click();
    }
    const waiting = phone.getByRole("list", { name: "Not sent yet" }).getByRole("listitem");
    await poll(() => waiting.count()).toBe(2);
    await waiting.filter({ hasText: "discarded" }).getByRole("button", { name: "Discard" }).click();
    await poll(() => waiting.count()).toBe(1);
    await phone.reload();
    await phone.getByText("Not connected").waitFor();
    front.setDown(false);
    await live(phone);
    const prompts = async (): Promise<string[]> => {
      const { json } = await daemon.request("GET", `/api/sessions/${agent}`);
      const { records } = json as { records: { type: string; text: string }[] };
      return records.filter(({ type }) => type === "user_message").map(({ text }) => text);
    };
    await poll(prompts).toEqual(["echo written-in-a-tunnel"]);
    await phone.reload();
    await live(phone);
    await poll(() => waiting.count()).toBe(0);
    expect(await prompts()).toEqual(["echo written-in-a-tunnel"]);
  }, 120_000);

  it("stops with the next step when remote access ends, and goes on when it is back", async () => {
    const phone = await pairPhone();
    await daemon.request("POST", "/api/remote", { body: { access: "off" } });
    await phone.getByRole("heading", { name: "Remote access is off" }).waitFor();
    await phone.getByText("sallyport remote on").waitFor();
    await daemon.request("POST", "/api/remote", { body: { access: "tunnel" } });
    await phone.getByRole("button", { name: "Try again" }).click();
    await live(phone);
  }, 120_000);

  it("forgets its token when it is revoked, and pairs again", async () => {
    const before = new Set((await devices()).map(({ id }) => id));
    const phone = await pairPhone();
    const own = (await devices()).find(({ id }) => !before.has(id));
    expect(own?.kind).toBe("browser");
    expect((await daemon.request("DELETE", `/api/devices/${own?.id}`)).status).toBe(204);
    await phone.getByRole("heading", { name: "This browser is no longer paired" }).waitFor();
    await phone.reload();
    await phone.getByRole("heading", { name: "Pair this browser" }).waitFor();
    const { json } = await daemon.request("POST", "/api/pair/codes", { body: {} });
    const { code } = json as { code: string };
    await phone.getByLabel("Pairing code").fill(code.toLowerCase().replace("-", " "));
    await phone.getByLabel("Name of this device").fill("Kitchen tablet");
    await phone.getByRole("button", { name: "Pair", exact: true }).click();
    await live(phone);
    expect((await devices()).map(({ name }) => name)).toContain("Kitchen tablet");
  }, 120_000);

  it("lets a device that may only look see everything and change nothing", async () => {
    const phone = await pairPhone(["view"]);
    expect(await phone.getByRole("button", { name: "New conversation" }).count()).toBe(0);
  }, 120_000);
});
