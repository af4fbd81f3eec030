import { describe, expect, it, vi } from "vitest";
import type { Lease } from "../../../src/auth/principal.ts";
import { deviceRoutes } from "../../../src/gateway/routes/devices.ts";
import { trackWork } from "../../../src/gateway/work-in-flight.ts";
import { newId } from "../../../src/lib/ids.ts";
import { refusalOf } from "../../pairing/fakes.ts";
import { call, createWorld, pairedWith } from "./pairing-fakes.ts";

const all = ["view", "drive", "approve", "admin"] as const;

async function setUp() {
  const world = await createWorld();
  const routes = deviceRoutes({
    devices: world.authority.devices,
    connected: () => 2,
    audit: (event) => world.events.push(event),
  });
  const [admin, viewer] = [
    await pairedWith(world, all, "Laptop"),
    await pairedWith(world, ["view"], "Phone"),
  ];
  const patch = (lease: Lease, id: string, body: unknown) =>
    call(routes, "PATCH /api/devices/:id", { lease, params: { id }, body });
  const remove = (lease: Lease, id: string) =>
    call(routes, "DELETE /api/devices/:id", { lease, params: { id } });
  const list = async (lease: Lease) =>
    (
      (await call(routes, "GET /api/devices", { lease })).body as {
        devices: { id: string; current: boolean }[];
      }
    ).devices;
  return { ...world, routes, admin, viewer, patch, remove, list, master: world.authority.master.lease };
}

describe("GET /api/devices", () => {
  it("is open to every device, marks the caller and holds no secret", async () => {
    const { list, viewer, admin } = await setUp();
    const devices = await list(viewer.lease);
    expect(devices).toEqual([
      expect.objectContaining({ id: admin.id, name: "Laptop", current: false }),
      {
        id: viewer.id,
        name: "Phone",
        kind: "other",
        scopes: ["view"],
        created: "2026-11-30T12:00:00.000Z",
        expires: null,
        last_seen: null,
        connected: 2,
        current: true,
      },
    ]);
    expect(JSON.stringify(devices)).not.toMatch(/argon2|hash|spd_/);
  });

  it("marks none as current for the master", async () => {
    const { list, master } = await setUp();
    expect((await list(master)).some(({ current }) => current)).toBe(false);
  });
});

describe("PATCH /api/devices/:id", () => {
  it("renames oneself without admin, cleans the name and answers the device", async () => {
    const { patch, viewer, events } = await setUp();
    const { body } = await patch(viewer.lease, viewer.id, { name: " My\u202e phone " });
    expect(body).toMatchObject({ id: viewer.id, name: "My phone", current: true });
    expect(events).toEqual([
      {
        type: "device_renamed",
        device: viewer.id,
        from: "Phone",
        to: "My phone",
        by: { device: viewer.id, name: "Phone" },
      },
    ]);
  });

  it("gives scopes with admin, and the device's own requests see them at once", async () => {
    const { patch, viewer, admin, events } = await setUp();
    await patch(admin.lease, viewer.id, { scopes: ["drive", "view"] });
    expect([...viewer.lease.scopes]).toEqual(["view", "drive"]);
    expect(events).toMatchObject([
      { type: "device_rescoped", from: ["view"], to: ["view", "drive"], by: { device: admin.id } },
    ]);
  });

  it.each([
    ["its own scopes up", "viewer", "viewer", { scopes: ["view", "admin"] }],
    ["its own scopes up beside a harmless name", "viewer", "viewer", { name: "x", scopes: [...all] }],
    ["another's name", "viewer", "admin", { name: "x" }],
    ["another's scopes down", "viewer", "admin", { scopes: ["view"] }],
  ] as const)("escalation: a device without admin cannot set %s", async (_, caller, target, body) => {
    const world = await setUp();
    const before = await world.list(world.master);
    const refused = world.patch(world[caller].lease, world[target].id, body);
    expect(await refusalOf(refused)).toMatchObject({ code: "scope_missing", status: 403 });
    expect(await world.list(world.master)).toEqual(before);
    expect(world.events).toEqual([]);
  });

  it("escalation: a device with admin alone gives nothing that it does not hold, not to itself either", async () => {
    const world = await setUp();
    const helper = await pairedWith(world, ["admin"], "Helper");
    for (const id of [helper.id, world.viewer.id])
      expect((await refusalOf(world.patch(helper.lease, id, { scopes: ["admin", "drive"] }))).code).toBe(
        "scope_missing",
      );
    expect([...helper.lease.scopes]).toEqual(["admin"]);
  });

  it.each([
    [{}, "invalid_field"],
    [{ name: "" }, "invalid_field"],
    [{ name: "x".repeat(65) }, "invalid_field"],
    [{ name: 7 }, "schema"],
    [{ scopes: [] }, "schema"],
    [{ scopes: ["root"] }, "schema"],
    [{ scopes: null }, "schema"],
    [[], "schema"],
  ])("refuses %j", async (body, code) => {
    const { patch, master, viewer } = await setUp();
    expect((await refusalOf(patch(master, viewer.id, body))).code).toBe(code);
  });

  it.each([newId(), "me", "", "../daemon.key", "__proto__", "x".repeat(5_000)])(
    "knows no device %j",
    async (id) => {
      const { patch, remove, admin } = await setUp();
      expect((await refusalOf(patch(admin.lease, id, { name: "x" }))).code).toBe("not_found");
      expect((await refusalOf(remove(admin.lease, id))).code).toBe("not_found");
    },
  );

  it("race: a caller that was revoked meanwhile changes nothing", async () => {
    const { patch, remove, admin, viewer, authority, list, master } = await setUp();
    await authority.devices.revoke(admin.id);
    expect((await refusalOf(patch(admin.lease, viewer.id, { name: "x" }))).code).toBe("unauthorized");
    expect((await refusalOf(remove(admin.lease, viewer.id))).code).toBe("unauthorized");
    expect(await list(master)).toEqual([expect.objectContaining({ name: "Phone" })]);
  });
});

describe("DELETE /api/devices/:id", () => {
  it("revokes another with admin: its sockets hear at once", async () => {
    const { remove, admin, viewer, authority, events } = await setUp();
    const listener = vi.fn();
    viewer.lease.onEnd(listener);
    expect(await remove(admin.lease, viewer.id)).toMatchObject({ status: 204 });
    expect(listener).toHaveBeenCalledWith("revoked");
    expect(authority.verifyCredential({ kind: "token", rawToken: viewer.token }, "remote")).toBeNull();
    expect(events).toMatchObject([
      { type: "device_revoked", device: viewer.id, name: "Phone", by: { device: admin.id } },
    ]);
  });

  it("revokes oneself: out at once, the sockets hear after the reply has left", async () => {
    const { remove, viewer, authority } = await setUp();
    const listener = vi.fn();
    viewer.lease.onEnd(listener);
    const answer = await remove(viewer.lease, viewer.id);
    expect(answer.status).toBe(204);
    expect(answer.body).toBeUndefined();
    expect(authority.verifyCredential({ kind: "token", rawToken: viewer.token }, "remote")).toBeNull();
    expect(viewer.lease.ended).toBe("revoked");
    expect(listener).not.toHaveBeenCalled();
    answer.afterSent?.();
    expect(listener).toHaveBeenCalledTimes(1);
  });

  it("race: says that another is out when what he asked for before is done, and not earlier", async () => {
    const { remove, admin, viewer } = await setUp();
    const order: string[] = [];
    let finish: () => void = () => undefined;
    const work = new Promise<void>((resolve) => {
      finish = resolve;
    }).then(() => order.push("written"));
    trackWork(viewer.lease, work);
    viewer.lease.onEnd(() => setImmediate(finish));
    await remove(admin.lease, viewer.id);
    order.push("204");
    expect(order).toEqual(["written", "204"]);
  });

  it("escalation: a device without admin revokes nobody else", async () => {
    const { remove, viewer, admin, authority } = await setUp();
    expect((await refusalOf(remove(viewer.lease, admin.id))).code).toBe("scope_missing");
    expect(authority.devices.count).toBe(2);
    expect(admin.lease.ended).toBeNull();
  });

  it("race: two revocations at once, one 204 and one 404", async () => {
    const { remove, admin, master, viewer } = await setUp();
    const results = await Promise.allSettled([remove(admin.lease, viewer.id), remove(master, viewer.id)]);
    expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
  });

  it("full disk: the device is out all the same, and the reply says so", async () => {
    const { remove, admin, viewer, disk } = await setUp();
    disk.refuses = true;
    const refusal = await refusalOf(remove(admin.lease, viewer.id));
    expect(refusal).toMatchObject({ code: "disk_full", status: 503 });
    expect(refusal.message).toContain("The device is out");
    expect(viewer.lease.ended).toBe("revoked");
    disk.refuses = false;
  });
});
