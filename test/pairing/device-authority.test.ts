import { createHmac } from "node:crypto";
import { readFile, rm, writeFile } from "node:fs/promises";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { Lease, RequestClass } from "../../src/auth/principal.ts";
import { createDeviceAuthority, type DeviceAuthority } from "../../src/pairing/device-authority.ts";
import type { Paired } from "../../src/pairing/pair-device.ts";
import type { Scope } from "../../src/protocol/scopes.ts";
import { fakeClock, refusalOf, temporaryHome, until } from "./fakes.ts";

type Home = Awaited<ReturnType<typeof temporaryHome>>;

async function setUp(
  options: { home?: Home; writeFile?: (path: string, text: string) => Promise<void> } = {},
) {
  const home = options.home ?? (await temporaryHome());
  const clock = fakeClock();
  const onProblem = vi.fn();
  const authority = await createDeviceAuthority({
    paths: home,
    fixedMasterToken: null,
    clock,
    onDevicesChanged: () => undefined,
    onMasterRotated: () => undefined,
    onProblem,
    ...(options.writeFile ? { writeFile: options.writeFile } : {}),
  });
  onTestFinished(() => authority.close());
  return { home, clock, authority, onProblem };
}

interface Wish {
  readonly scopes?: readonly Scope[];
  readonly expiresDays?: number | null;
  readonly minter?: Lease;
}

function mint(authority: DeviceAuthority, wish: Wish = {}): string {
  return authority.codes.mint({
    minter: wish.minter ?? authority.master.lease,
    scopes: wish.scopes ?? ["view", "drive", "approve", "admin"],
    expiresDays: wish.expiresDays ?? null,
  }).code;
}

const claim = (authority: DeviceAuthority, rawCode: string, nonce: string | null = null): Promise<Paired> =>
  authority.pairing.byCode({ rawCode, nonce, rawName: "Pixel phone", kind: "phone", requestClass: "remote" });

const pair = (authority: DeviceAuthority, wish: Wish = {}): Promise<Paired> =>
  claim(authority, mint(authority, wish));

async function lease(
  authority: DeviceAuthority,
  rawToken: string,
  requestClass: RequestClass = "remote",
): Promise<Lease | null> {
  return authority.verifyCredential({ kind: "token", rawToken }, requestClass);
}

/** A token with this payload, signed with the key that stands in `daemon.key`. */
async function signWithLeakedKey(home: Home, token: string, changes: object): Promise<string> {
  const { current } = JSON.parse(await readFile(home.daemonKey, "utf8")) as { current: { secret: string } };
  const [header = "", payload = ""] = token.slice(4).split(".");
  const claims = { ...(JSON.parse(Buffer.from(payload, "base64url").toString()) as object), ...changes };
  const input = `${header}.${Buffer.from(JSON.stringify(claims)).toString("base64url")}`;
  const key = Buffer.from(current.secret, "base64url");
  return `spd_${input}.${createHmac("sha256", key).update(input).digest("base64url")}`;
}

describe("a device", () => {
  it("pairs by code, is let in, and is found by digest from the second request on", async () => {
    const { authority, home } = await setUp();
    const { token, device } = await pair(authority, { scopes: ["view", "drive"] });
    expect(device).toMatchObject({
      name: "Pixel phone",
      kind: "phone",
      scopes: ["view", "drive"],
      expires: null,
    });
    const first = await lease(authority, token);
    expect(first?.principal).toEqual({ kind: "device", device: device.id });
    expect([...(first?.scopes ?? [])]).toEqual(["view", "drive"]);
    const second = authority.verifyCredential({ kind: "token", rawToken: token }, "remote");
    expect(second).toBe(first);
    expect(authority.devices.list()[0]?.stored.last_seen).toBe("2026-11-30T12:00:00.000Z");
    const stored = await readFile(home.devices, "utf8");
    expect(stored).toContain("$argon2id$v=19$m=19456,t=2,p=1$");
    expect(stored).not.toContain(token.split(".")[1]);
  });

  it("is known after a restart, its codes are not", async () => {
    const { authority, home } = await setUp();
    const { token } = await pair(authority);
    const code = mint(authority);
    await authority.close();
    const next = await setUp({ home });
    expect(await lease(next.authority, token)).not.toBeNull();
    expect(await refusalOf(claim(next.authority, code))).toMatchObject({ code: "pairing_refused" });
  });

  it("costs one hash for a hundred first requests at once", async () => {
    const { authority } = await setUp();
    const { token } = await pair(authority);
    const leases = await Promise.all(Array.from({ length: 100 }, () => lease(authority, token)));
    expect(new Set(leases).size).toBe(1);
  });

  it("leaked daemon.key: a token signed with it lets nobody in without the secret", async () => {
    const { authority, home } = await setUp();
    const { token, device } = await pair(authority);
    expect(await lease(authority, await signWithLeakedKey(home, token, { jti: "A".repeat(43) }))).toBeNull();
    expect(
      await lease(authority, await signWithLeakedKey(home, token, { sub: device.id, jti: "" })),
    ).toBeNull();
    expect(await lease(authority, token)).not.toBeNull();
  });

  it("leaked token of one device: renamed to another it is refused", async () => {
    const { authority, home } = await setUp();
    const [mine, other] = [await pair(authority), await pair(authority)];
    expect(
      await lease(authority, await signWithLeakedKey(home, mine.token, { sub: other.device.id })),
    ).toBeNull();
  });

  it("forged: 2,000 tokens are refused without a hash and leave nothing behind", async () => {
    const { authority } = await setUp();
    const { token } = await pair(authority);
    await lease(authority, token);
    const forged = `${token.slice(0, -43)}${"A".repeat(43)}`;
    for (let count = 0; count < 2_000; count += 1)
      expect(authority.verifyCredential({ kind: "token", rawToken: forged }, "remote")).toBeNull();
    expect(authority.verifyCredential({ kind: "token", rawToken: token }, "remote")).not.toBeNull();
  });

  it("revoked: out at once, though its token was verified before; others stay", async () => {
    const { authority } = await setUp();
    const [gone, stays] = [await pair(authority), await pair(authority)];
    const held = await lease(authority, gone.token);
    await lease(authority, stays.token);
    const revoked = authority.devices.revoke(gone.device.id);
    expect(await lease(authority, gone.token)).toBeNull();
    expect(held?.ended).toBe("revoked");
    await revoked;
    expect(await lease(authority, stays.token)).not.toBeNull();
  });

  it("race: revoked while its first request is being checked, it is refused", async () => {
    const { authority } = await setUp();
    const { token, device } = await pair(authority);
    const checking = lease(authority, token);
    await authority.devices.revoke(device.id);
    expect(await checking).toBeNull();
    expect(await lease(authority, token)).toBeNull();
  });

  it("revoked: its tickets and the codes that it made die with it", async () => {
    const { authority } = await setUp();
    const { token, device } = await pair(authority);
    const held = await lease(authority, token);
    if (!held) throw new Error("not let in");
    const code = mint(authority, { minter: held });
    const { ticket } = authority.tickets.issue({ lease: held, requestClass: "remote", purpose: "socket" });
    await authority.devices.revoke(device.id);
    const raw = { kind: "ticket", rawTicket: ticket, purpose: "socket" } as const;
    expect(authority.verifyCredential(raw, "remote")).toBeNull();
    expect(await refusalOf(claim(authority, code))).toMatchObject({ code: "pairing_refused" });
  });

  it("expired: refused from the very millisecond, verified or not", async () => {
    const { authority, clock } = await setUp();
    const { token, device } = await pair(authority, { expiresDays: 1 });
    expect(device.expires).toBe("2026-12-01T12:00:00.000Z");
    clock.pass(86_399_999);
    expect(await lease(authority, token)).not.toBeNull();
    clock.pass(1);
    expect(await lease(authority, token)).toBeNull();
  });

  it("narrowed: a request in flight sees the new scopes", async () => {
    const { authority } = await setUp();
    const { token, device } = await pair(authority);
    const held = await lease(authority, token);
    await authority.devices.update(device.id, { scopes: ["view"] });
    expect([...(held?.scopes ?? [])]).toEqual(["view"]);
  });
});

describe("the master token", () => {
  it("counts on local requests only; remote it is a wrong token like any other", async () => {
    const { authority } = await setUp();
    expect(await lease(authority, authority.master.token, "local")).toBe(authority.master.lease);
    expect(await lease(authority, authority.master.token, "remote")).toBeNull();
  });

  it("rotated: its sockets' lease ends, its codes and tickets die, devices stay", async () => {
    const { authority, home } = await setUp();
    const { token } = await pair(authority);
    const [old, code] = [authority.master.token, mint(authority)];
    const { ticket } = authority.tickets.issue({
      lease: authority.master.lease,
      requestClass: "local",
      purpose: "page",
    });
    await rm(home.daemonToken);
    expect(await lease(authority, old, "local")).toBeNull();
    expect(await refusalOf(claim(authority, code))).toMatchObject({ code: "pairing_refused" });
    const byTicket = authority.pairing.byTicket({
      rawTicket: ticket,
      rawName: "browser",
      kind: null,
      requestClass: "local",
    });
    expect(await refusalOf(byTicket)).toMatchObject({ code: "pairing_refused" });
    expect(await lease(authority, token)).not.toBeNull();
    await until(async () =>
      (await readFile(home.daemonToken, "utf8").catch(() => "")).startsWith(authority.master.token),
    );
  });
});

describe("pairing", () => {
  it("race: of 100 claims with one code one device comes out", async () => {
    const { authority } = await setUp();
    const code = mint(authority);
    const results = await Promise.allSettled(
      Array.from({ length: 100 }, (_, index) => claim(authority, code, `n${index}`)),
    );
    expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    expect(authority.devices.count).toBe(1);
  });

  it("lost reply: a repeat gives the same device, and nothing once it was revoked", async () => {
    const { authority } = await setUp();
    const code = mint(authority);
    const first = await claim(authority, code, "n1");
    expect(await claim(authority, code, "n1")).toEqual(first);
    expect(authority.devices.count).toBe(1);
    await authority.devices.revoke(first.device.id);
    expect(await refusalOf(claim(authority, code, "n1"))).toMatchObject({ code: "pairing_refused" });
  });

  it("race: the minter is revoked while its code is being claimed, and no device comes out", async () => {
    const { authority } = await setUp();
    const { token, device } = await pair(authority);
    const minter = await lease(authority, token);
    if (!minter) throw new Error("not let in");
    const refused = refusalOf(claim(authority, mint(authority, { minter })));
    await authority.devices.revoke(device.id);
    expect(await refused).toMatchObject({ code: "pairing_refused" });
    expect(authority.devices.count).toBe(0);
  });

  it("escalation: a code gives no more than its minter holds when it is claimed", async () => {
    const { authority } = await setUp();
    const { token, device } = await pair(authority);
    const minter = await lease(authority, token);
    if (!minter) throw new Error("not let in");
    const [narrowed, dead] = [mint(authority, { minter }), mint(authority, { minter })];
    await authority.devices.update(device.id, { scopes: ["view", "admin"] });
    expect((await claim(authority, narrowed)).device.scopes).toEqual(["view", "admin"]);
    await authority.devices.update(device.id, { scopes: ["view"] });
    expect(await refusalOf(claim(authority, dead))).toMatchObject({ code: "pairing_refused" });
  });

  it.each([null, 30])(
    "escalation: a device that ends makes none that lives longer (asked for %j days)",
    async (expiresDays) => {
      const { authority } = await setUp();
      const { token, device } = await pair(authority, { expiresDays: 2 });
      const minter = await lease(authority, token);
      if (!minter) throw new Error("not let in");
      const child = await pair(authority, { minter, expiresDays });
      expect(child.device.expires).toBe(device.expires);
    },
  );

  it("full disk: 503, no device, and the code still works when there is room", async () => {
    let refuses = true;
    const { authority } = await setUp({
      writeFile: async (path, text) => {
        if (refuses) throw Object.assign(new Error("full"), { code: "ENOSPC" });
        await writeFile(path, text, { mode: 0o600 });
      },
    });
    const code = mint(authority);
    expect(await refusalOf(claim(authority, code))).toMatchObject({ code: "disk_full" });
    expect(authority.devices.count).toBe(0);
    refuses = false;
    expect((await claim(authority, code)).device.name).toBe("Pixel phone");
  });

  it.each(["", "   ", "\u202e\u200b", "x".repeat(65)])(
    "an unusable name %j does not burn the code",
    async (rawName) => {
      const { authority } = await setUp();
      const code = mint(authority);
      const refused = authority.pairing.byCode({
        rawCode: code,
        nonce: null,
        rawName,
        kind: null,
        requestClass: "remote",
      });
      expect(await refusalOf(refused)).toMatchObject({ code: "invalid_field", field: "name" });
      expect((await claim(authority, code)).token).toMatch(/^spd_/);
    },
  );

  it("a page ticket of the master makes a device that counts on local requests only", async () => {
    const { authority } = await setUp();
    const { ticket } = authority.tickets.issue({
      lease: authority.master.lease,
      requestClass: "local",
      purpose: "page",
    });
    const request = { rawTicket: ticket, rawName: "browser", kind: null, requestClass: "local" } as const;
    const { token, device } = await authority.pairing.byTicket(request);
    expect(device).toMatchObject({ kind: "browser", scopes: ["view", "drive", "approve", "admin"] });
    expect(await lease(authority, token, "local")).toMatchObject({ localOnly: true });
    expect(await lease(authority, token, "remote")).toBeNull();
    expect(await refusalOf(authority.pairing.byTicket(request))).toMatchObject({ code: "pairing_refused" });
  });

  it("stolen page ticket: refused from elsewhere, and refused if it was made for a socket", async () => {
    const { authority } = await setUp();
    const { lease: master } = authority.master;
    const page = authority.tickets.issue({ lease: master, requestClass: "local", purpose: "page" });
    const socket = authority.tickets.issue({ lease: master, requestClass: "local", purpose: "socket" });
    for (const [rawTicket, requestClass] of [
      [page.ticket, "remote"],
      [socket.ticket, "local"],
      ["spt_", "local"],
    ] as const) {
      const refused = authority.pairing.byTicket({ rawTicket, rawName: "x", kind: null, requestClass });
      expect(await refusalOf(refused)).toMatchObject({ code: "pairing_refused" });
    }
    expect(authority.devices.count).toBe(0);
  });

  it("writes what happened to the audit log, and no secret", async () => {
    const { authority, home } = await setUp();
    const code = mint(authority);
    const { token, device } = await claim(authority, code, "a-nonce-of-the-phone");
    for (let count = 0; count < 20; count += 1) await refusalOf(claim(authority, "00000-00000"));
    const master = authority.master.token;
    await authority.close();
    const log = await readFile(home.audit, "utf8");
    const events = log
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { type: string; count?: number; device?: string });
    expect(events.map(({ type }) => type)).toEqual(["device_paired", "pairing_missed", "pairing_missed"]);
    expect(events[0]).toMatchObject({ device: device.id, by: { device: null, name: "local" } });
    expect((events[1]?.count ?? 0) + (events[2]?.count ?? 0)).toBe(20);
    for (const secret of [
      token,
      token.split(".")[1] ?? "",
      code,
      code.replace("-", ""),
      "a-nonce-of-the-phone",
      master,
    ])
      expect(log).not.toContain(secret);
  });
});
