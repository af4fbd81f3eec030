import { describe, expect, it } from "vitest";
import { ticketRoutes } from "../../../src/gateway/routes/ticket.ts";
import { refusalOf } from "../../pairing/fakes.ts";
import { call, createWorld, pairedWith } from "./pairing-fakes.ts";

async function setUp() {
  const world = await createWorld();
  const routes = ticketRoutes({ tickets: world.authority.tickets });
  return { ...world, routes, phone: await pairedWith(world, ["view"]), master: world.authority.master.lease };
}

describe("POST /api/ws/ticket", () => {
  it("gives every device a ticket that opens one socket in its name", async () => {
    const { routes, phone, authority } = await setUp();
    const { body } = await call(routes, "POST /api/ws/ticket", { lease: phone.lease });
    expect(body).toEqual({ ticket: expect.stringMatching(/^spt_/), expires: "2026-11-30T12:00:30.000Z" });
    const { ticket: rawTicket } = body as { ticket: string };
    const raw = { kind: "ticket", rawTicket, purpose: "socket" } as const;
    expect(authority.verifyCredential(raw, "remote")).toBe(phone.lease);
    expect(authority.verifyCredential(raw, "remote")).toBeNull();
  });

  it("gives page tickets to the master only", async () => {
    const { routes, phone, master, authority } = await setUp();
    const body = { purpose: "page" };
    const refused = call(routes, "POST /api/ws/ticket", { lease: phone.lease, body });
    expect(await refusalOf(refused)).toMatchObject({ code: "scope_missing", status: 403 });
    expect(authority.tickets.size).toBe(0);
    const made = await call(routes, "POST /api/ws/ticket", { lease: master, body, requestClass: "local" });
    expect(made.body).toHaveProperty("ticket");
  });

  it("race: gives none to a device that was revoked meanwhile", async () => {
    const { routes, phone, authority } = await setUp();
    await authority.devices.revoke(phone.id);
    expect((await refusalOf(call(routes, "POST /api/ws/ticket", { lease: phone.lease }))).code).toBe(
      "unauthorized",
    );
    expect(authority.tickets.size).toBe(0);
  });

  it.each([{ purpose: "admin" }, { purpose: null }, { purpose: ["page"] }, null])(
    "refuses %j",
    async (body) => {
      const { routes, master } = await setUp();
      expect((await refusalOf(call(routes, "POST /api/ws/ticket", { lease: master, body }))).code).toBe(
        "schema",
      );
    },
  );
});
