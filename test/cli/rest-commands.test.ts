import { afterEach, describe, expect, it } from "vitest";
import { networkWarning } from "../../src/cli/offers.ts";
import {
  daemonFileOf,
  type FakeAnswer,
  fakeToken,
  homeWith,
  refusal,
  startFakeDaemon,
} from "./fake-daemon.ts";
import { cli } from "./fake-io.ts";

const undo: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0)) await step();
});

/** A daemon with one answer for each `METHOD path`. */
async function setUp(answers: Readonly<Record<string, FakeAnswer>>) {
  const daemon = await startFakeDaemon({
    answer: ({ method, path }) => answers[`${method} ${path}`] ?? null,
  });
  const { home, remove } = await homeWith(daemonFileOf(daemon.url));
  undo.push(daemon.close, remove);
  return { daemon, home };
}

const device = {
  id: "01a1",
  name: "Pixel \u202e\u001b[31mphone",
  kind: "phone",
  scopes: ["view"],
  created: "2026-01-01T00:00:00.000Z",
  expires: null,
  last_seen: null,
  connected: 1,
  current: false,
};
const remote = {
  access: "on",
  bound: ["0.0.0.0:7700"],
  addresses: [{ kind: "lan", address: "http://192.168.1.20:7700" }],
  tunnel: { provider: null, state: "off", url: null, text: null, link: null, reason: null, next_try: null },
  devices: 1,
};
const code = {
  code: "ABCDE-FGHJK",
  expires: "2026-01-01T00:10:00.000Z",
  scopes: ["view"],
  offers: [
    {
      kind: "lan",
      address: "http://192.168.1.20:7700",
      link: "http://192.168.1.20:7700/#pair=ABCDE-FGHJK",
      qr: "<svg/>",
    },
    {
      kind: "local",
      address: "http://127.0.0.1:7700",
      link: "http://127.0.0.1:7700/#pair=ABCDE-FGHJK",
      qr: "<svg/>",
    },
  ],
};

describe("commands that ask over REST", () => {
  it.each([
    [["devices", "--json"], "GET /api/devices", { devices: [device] }],
    [["devices", "list", "--json"], "GET /api/devices", { devices: [device] }],
    [["devices", "rename", "01a1", "x", "--json"], "PATCH /api/devices/01a1", device],
    [["devices", "scope", "01a1", "view", "--json"], "PATCH /api/devices/01a1", device],
    [["pair", "--json"], "POST /api/pair/codes", code],
    [["remote", "status", "--json"], "GET /api/remote", remote],
    [["remote", "on", "--json"], "POST /api/remote", remote],
    [["jobs", "--json"], "GET /api/jobs", { jobs: [] }],
    [["jobs", "kill", "3fa9c210", "--json"], "POST /api/command", { type: "ack" }],
    [["daemon", "status", "--json"], "GET /api/daemon", { version: "1.0.0", pid: 1 }],
  ])("%j prints the answer's body and nothing else", async (argv, route, body) => {
    const { home, daemon } = await setUp({ [route]: { body } });
    const ran = await cli(argv, { home });
    expect(ran.exitCode).toBe(0);
    expect(JSON.parse(ran.stdout)).toEqual(body);
    expect(ran.stdout).not.toContain(fakeToken);
    expect(daemon.requests.at(-1)?.authorization).toBe(`Bearer ${fakeToken}`);
  });

  it.each([
    [401, "unauthorized", 4],
    [403, "scope_missing", 4],
    [404, "not_found", 1],
    [409, "conflict", 1],
    [503, "overloaded", 1],
  ])("a refusal with %i %s ends with exit code %i", async (status, name, exitCode) => {
    const body = refusal(name, "No.");
    const { home } = await setUp({ "GET /api/devices": { status, body } });
    const ran = await cli(["devices", "--json"], { home });
    expect(ran.exitCode).toBe(exitCode);
    expect(JSON.parse(ran.stdout)).toEqual(body);
    expect(ran.stderr).toBe("sallyport: No.\n");
  });

  it("revokes a device", async () => {
    const { home, daemon } = await setUp({ "DELETE /api/devices/01a1": { status: 204 } });
    expect((await cli(["devices", "revoke", "01a1"], { home })).exitCode).toBe(0);
    expect(daemon.requests.at(-1)).toMatchObject({ method: "DELETE", path: "/api/devices/01a1" });
  });

  it("an id with slashes stays one segment of the path", async () => {
    const { home, daemon } = await setUp({});
    await cli(["devices", "revoke", "../daemon/stop"], { home });
    expect(daemon.requests.at(-1)?.path).toBe("/api/devices/..%2Fdaemon%2Fstop");
  });

  it("shows names without control and bidi characters", async () => {
    const { home } = await setUp({ "GET /api/devices": { body: { devices: [device] } } });
    const ran = await cli(["devices"], { home, isTerminal: true });
    expect(ran.stdout).toContain("Pixel phone");
    expect(ran.stdout).not.toMatch(/[\u001b\u202e]/);
  });

  it("hands scopes and expiry on when it makes a code", async () => {
    const { home, daemon } = await setUp({ "POST /api/pair/codes": { body: code } });
    await cli(["pair", "--json", "--scope", "view", "--scope", "drive,approve", "--expires-days", "30"], {
      home,
    });
    expect(daemon.requests.at(-1)?.body).toEqual({ scopes: ["view", "drive", "approve"], expires_days: 30 });
  });

  it("draws a QR code on a terminal, with the words about the network", async () => {
    const { home } = await setUp({
      "POST /api/pair/codes": { body: code },
      "GET /api/remote": { body: remote },
    });
    const ran = await cli(["pair"], { home, isTerminal: true });
    expect(ran.stdout).toMatch(/[▀▄█]{4}/);
    expect(ran.stdout).toContain("ABCDE-FGHJK");
    expect(ran.stdout).toContain("whoever can read this network can become this device");
  });

  it("draws none where only this machine can be reached", async () => {
    const local = { ...code, offers: code.offers.slice(1) };
    const { home } = await setUp({
      "POST /api/pair/codes": { body: local },
      "GET /api/remote": { body: { ...remote, access: "off" } },
    });
    const ran = await cli(["pair"], { home, isTerminal: true });
    expect(ran.stdout).not.toMatch(/[▀▄█]/);
    expect(ran.stdout).toContain("sallyport remote on");
    expect(ran.stdout).not.toContain(networkWarning);
  });

  it.each([
    ["on", "http://192.168.1.20:7700", true],
    ["on", "https://192.168.1.20:7700", false],
    ["tunnel", "http://192.168.1.20:7700", false],
    ["off", "http://192.168.1.20:7700", false],
  ])("says who can read the network when access is %s at %s: %s", async (access, address, says) => {
    const body = { ...remote, access, addresses: [{ kind: "lan", address }] };
    const { home } = await setUp({ "GET /api/remote": { body } });
    const ran = await cli(["remote", "status"], { home });
    expect(ran.stdout.includes("whoever can read this network can become this device")).toBe(says);
  });

  it("prints a job's output without what could steer a terminal, and colours only on one", async () => {
    const body = {
      type: "job_output",
      job: "x",
      offset: 0,
      next_offset: 9,
      size: 9,
      output: "\u001b[31mred\u001b[0m\u001b[2J\r\n\u202ex\n",
      done: true,
      incomplete: false,
    };
    const { home } = await setUp({ "GET /api/jobs/x/output?tail=5": { body } });
    expect((await cli(["jobs", "output", "x", "--tail", "5"], { home })).stdout).toBe("red\nx\n");
    const shown = await cli(["jobs", "output", "x", "--tail", "5"], { home, isTerminal: true });
    expect(shown.stdout).toBe("\u001b[31mred\u001b[0m\nx\n\u001b[0m");
  });

  it("says what runs when the daemon does not stop for it", async () => {
    const body = refusal("conflict", "Running.", { reason: "running", agents: 1, jobs: 2 });
    const { home } = await setUp({ "POST /api/daemon/stop": { status: 409, body } });
    const ran = await cli(["daemon", "stop"], { home });
    expect(ran.exitCode).toBe(1);
    expect(ran.stderr).toContain("1 agent and 2 jobs");
    expect(ran.stderr).toContain("sallyport daemon stop --force");
  });

  it("up shows the address and a code of the daemon that runs already, and ends", async () => {
    const { home, daemon } = await setUp({
      "POST /api/pair/codes": { body: code },
      "GET /api/remote": { body: remote },
    });
    const ran = await cli(["up"], { home });
    expect(ran.exitCode).toBe(0);
    expect(ran.stdout).toContain(daemon.url);
    expect(ran.stdout).toContain("ABCDE-FGHJK");
  });
});
