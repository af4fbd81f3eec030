import { access, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, BrowserContext, CDPSession, Page, Worker } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { disposeDaemons, startTestDaemon, type TestDaemon } from "../../helpers/daemon.ts";
import {
  type PushService,
  pushCertificatePath,
  startPushService,
  type TestBrowser,
} from "../../helpers/push-service.ts";
import { openSocket, type TestSocket } from "../../helpers/socket.ts";
import { launchBrowser, viewports } from "../browser.ts";

/** What a system shows of a notification. */
interface Shown {
  readonly title: string;
  readonly body: string;
  readonly tag: string;
  readonly actions: readonly string[];
}

describe("notifications in a real browser, from a real daemon", () => {
  let browser: Browser;
  let service: PushService;
  let daemon: TestDaemon;
  let desk: TestSocket;
  let folder: string;
  let context: BrowserContext;
  let page: Page;
  let devtools: CDPSession;
  let registrationId: string;

  beforeAll(async () => {
    browser = await launchBrowser();
    service = await startPushService();
    folder = await mkdtemp(join(tmpdir(), "sallyport-push-"));
    daemon = await startTestDaemon({
      cwd: folder,
      config: "[push]\nafter_seconds = 1\ninsecure_private_endpoints = true\n",
      env: { NODE_EXTRA_CA_CERTS: pushCertificatePath },
    });
    desk = await openSocket(daemon.url, { token: daemon.token });
  }, 120_000);
  afterAll(async () => {
    await browser?.close();
    await disposeDaemons();
    await service?.close();
    await rm(folder, { recursive: true, force: true });
  });
  beforeEach(async () => {
    context = await browser.newContext({ viewport: viewports.phone });
    page = await context.newPage();
    page.setDefaultTimeout(60_000);
  });
  afterEach(async () => {
    await context.close();
    const { json } = await daemon.request("GET", "/api/devices");
    for (const { id } of json.devices) await daemon.request("DELETE", `/api/devices/${id}`);
  });

  /** A browser without a window reaches no push service, and may show nothing: it gets the test's service, and is told yes. */
  async function withPushService({ subscription }: TestBrowser): Promise<void> {
    await page.addInitScript((json) => {
      let current: unknown = null;
      const made = {
        toJSON: () => json,
        options: { applicationServerKey: null },
        async unsubscribe() {
          current = null;
          return true;
        },
      };
      Object.assign(PushManager.prototype, {
        async subscribe() {
          current = made;
          return made;
        },
        getSubscription: async () => current,
      });
      Object.defineProperty(Notification, "permission", { get: () => "granted" });
      Notification.requestPermission = async () => "granted";
    }, subscription);
  }
  /** Pairs the page and waits for its worker. */
  async function open(): Promise<void> {
    const { json } = await daemon.request("POST", "/api/ws/ticket", { body: { purpose: "page" } });
    await page.goto(`${daemon.url}/#ticket=${json.ticket}`);
    await page.getByText("Live", { exact: true }).waitFor();
    devtools = await context.newCDPSession(page);
    const registered = new Promise<string>((resolve) => {
      devtools.on("ServiceWorker.workerRegistrationUpdated", ({ registrations }) => {
        const [found] = registrations;
        if (found) resolve(found.registrationId);
      });
    });
    await devtools.send("ServiceWorker.enable");
    await page.evaluate(async () => void (await navigator.serviceWorker.ready));
    registrationId = await registered;
    await giveScreen();
  }
  const deliver = (payload: unknown) =>
    devtools.send("ServiceWorker.deliverPushMessage", {
      origin: daemon.url,
      registrationId,
      data: JSON.stringify(payload),
    });
  const worker = (): Worker => {
    const [found] = context.serviceWorkers();
    if (!found) throw new Error("there is no worker");
    return found;
  };
  /** Puts a screen of the test's under the worker: this browser has none. */
  const giveScreen = () =>
    worker().evaluate(() => {
      const { registration } = self as unknown as { registration: ServiceWorkerRegistration };
      const screen = new Map<string, object>();
      Object.assign(registration, {
        async showNotification(title: string, options: { tag: string }) {
          screen.delete(options.tag);
          screen.set(options.tag, { title, ...options, close: () => screen.delete(options.tag) });
        },
        getNotifications: async () => [...screen.values()],
      });
    });
  const shown = (): Promise<Shown[]> =>
    worker().evaluate(async () => {
      const { registration } = self as unknown as { registration: ServiceWorkerRegistration };
      return (await registration.getNotifications()).map((each) => ({
        title: each.title,
        body: each.body,
        tag: each.tag,
        actions: ((each as { actions?: { action: string }[] }).actions ?? []).map(({ action }) => action),
      }));
    });
  /** Touches a notification, or one of its buttons, as the system would tell the worker. */
  const touch = (tag: string, action: string) =>
    worker().evaluate(
      async ([wanted, button]) => {
        const { registration } = self as unknown as { registration: ServiceWorkerRegistration };
        const notification = (await registration.getNotifications()).find((each) => each.tag === wanted);
        let work: Promise<unknown> = Promise.resolve();
        const waitUntil = (each: Promise<unknown>): void => {
          work = each;
        };
        self.dispatchEvent(
          Object.assign(new Event("notificationclick"), { notification, action: button, waitUntil }),
        );
        await work;
      },
      [tag, action] as const,
    );
  /** Leaves the page: nothing of it is visible any more. */
  const lookAway = () => page.goto("about:blank");
  async function ask(command: string) {
    const { turn } = await desk.command({ type: "prompt", text: command });
    const { event } = await desk.waitFor(
      (message) =>
        message.type === "event" &&
        message.event.type === "permission_requested" &&
        message.event.turn === turn,
    );
    const ended = () =>
      desk.waitFor(
        (message) =>
          message.type === "event" && message.event.type === "turn_finished" && message.event.turn === turn,
      );
    return { request: event.request_id as string, tag: `request-${event.request_id}`, ended };
  }

  it("go on by a switch, ask while nobody looks, and allow with their button", async () => {
    await withPushService(service.newBrowser());
    await open();
    await page.goto(`${daemon.url}/#/settings`);
    const requests = page.getByRole("switch", { name: "Requests and questions" });
    await requests.check();
    await page.getByText("Sent by way of 127.0.0.1").waitFor();
    expect(await page.getByRole("switch", { name: "Turns that ended" }).isChecked()).toBe(false);
    await lookAway();
    const { tag, ended } = await ask("echo from the phone > phone.txt");
    const { payload } = await service.next();
    await deliver(payload);
    await expect.poll(shown).toEqual([
      {
        title: expect.stringMatching(/^Allow bash\? – /),
        body: `echo from the phone > phone.txt\nin ${folder}`,
        tag,
        actions: ["allow", "deny"],
      },
    ]);
    await touch(tag, "allow");
    await ended();
    expect(await readFile(join(folder, "phone.txt"), "utf8")).toBe("from the phone\n");
    expect(await shown()).toEqual([]);
  });

  it("go when somebody else has answered, and say so when a button comes too late", async () => {
    await withPushService(service.newBrowser());
    await open();
    await page.goto(`${daemon.url}/#/settings`);
    await page.getByRole("switch", { name: "Requests and questions" }).check();
    await page.getByText("Sent by way of").waitFor();
    await lookAway();
    const first = await ask("echo 1 > first.txt");
    await deliver((await service.next()).payload);
    await expect.poll(async () => (await shown()).map(({ tag }) => tag)).toEqual([first.tag]);
    await desk.command({ type: "approve", request_id: first.request, decision: "deny" });
    await deliver((await service.next()).payload);
    await expect.poll(shown).toEqual([]);
    const second = await ask("echo 2 > second.txt");
    await deliver((await service.next()).payload);
    await expect.poll(async () => (await shown()).map(({ tag }) => tag)).toEqual([second.tag]);
    await desk.command({ type: "approve", request_id: second.request, decision: "deny" });
    await touch(second.tag, "allow");
    expect(await shown()).toMatchObject([
      { tag: second.tag, body: "Answered on local. Touch to look at it.", actions: [] },
    ]);
    await second.ended();
    await expect(access(join(folder, "second.txt"))).rejects.toThrow("ENOENT");
  });

  it("are not shown while the page is looked at, and leave with what was answered there", async () => {
    await open();
    await deliver({ id: "0".repeat(32) });
    await deliver("nonsense");
    expect(await shown()).toEqual([]);
    await page.evaluate(() => {
      const tags = new Set(["request-of-before", "turn-x"]);
      Object.assign(globalThis, { shownTags: tags });
      ServiceWorkerRegistration.prototype.getNotifications = async () =>
        [...tags].map((tag) => ({ tag, close: () => tags.delete(tag) }) as unknown as Notification);
    });
    const { request } = await ask("echo 3 > third.txt");
    const left = () =>
      page.evaluate(() => [...(globalThis as unknown as { shownTags: Set<string> }).shownTags]);
    await expect.poll(left).toEqual(["turn-x"]);
    await desk.command({ type: "approve", request_id: request, decision: "deny" });
  });

  it("say that something waits when the daemon does not know the message any more", async () => {
    await open();
    await lookAway();
    await deliver({ id: "0".repeat(32) });
    await expect
      .poll(shown)
      .toMatchObject([{ title: "Sallyport", body: "There was news while this device was away." }]);
  });
});
