import { describe, expect, it } from "vitest";
import type { Lease } from "../../../src/auth/principal.ts";
import { pairCodeRoutes } from "../../../src/gateway/routes/pair-codes.ts";
import { refusalOf } from "../../pairing/fakes.ts";
import { call, createWorld, pairedWith } from "./pairing-fakes.ts";

async function setUp() {
  const world = await createWorld();
  const routes = pairCodeRoutes({
    codes: world.authority.codes,
    addresses: () => [
      { kind: "tunnel", address: "https://x.example" },
      { kind: "local", address: "http://127.0.0.1:7700" },
    ],
    audit: (event) => world.events.push(event),
  });
  const make = (lease: Lease, body: unknown = {}) => call(routes, "POST /api/pair/codes", { lease, body });
  const claim = (rawCode: string) =>
    world.authority.pairing.byCode({
      rawCode,
      nonce: null,
      rawName: "x",
      kind: null,
      requestClass: "remote",
    });
  return { ...world, routes, make, claim, master: world.authority.master.lease };
}
const codeIn = (answer: { body?: unknown }): string => (answer.body as { code: string }).code;

describe("POST /api/pair/codes", () => {
  it("answers code, end, scopes and an offer per address; it needs admin", async () => {
    const { make, master, routes, events } = await setUp();
    expect(routes[0]?.scope.needs).toEqual(["admin"]);
    const { body } = await make(master);
    expect(body).toEqual({
      code: expect.stringMatching(/^[0-9A-Z]{5}-[0-9A-Z]{5}$/),
      expires: "2026-11-30T12:10:00.000Z",
      scopes: ["view", "drive", "approve", "admin"],
      offers: [
        {
          kind: "tunnel",
          address: "https://x.example",
          link: `https://x.example/#pair=${codeIn({ body })}`,
          qr: expect.stringMatching(/^<svg /),
        },
        {
          kind: "local",
          address: "http://127.0.0.1:7700",
          link: `http://127.0.0.1:7700/#pair=${codeIn({ body })}`,
          qr: expect.stringMatching(/^<svg /),
        },
      ],
    });
    expect(JSON.stringify(events)).not.toContain(codeIn({ body }));
    expect(events).toMatchObject([{ type: "code_made", by: { device: null, name: "local" } }]);
  });

  it("gives the device what was asked for, each scope once", async () => {
    const { make, master, claim } = await setUp();
    const made = await make(master, { scopes: ["drive", "view", "drive"], expires_days: 30 });
    expect(made.body).toMatchObject({ scopes: ["view", "drive"] });
    expect((await claim(codeIn(made))).device).toMatchObject({
      scopes: ["view", "drive"],
      expires: "2026-12-30T12:00:00.000Z",
    });
  });

  it("without options gives what its maker holds, not more", async () => {
    const world = await setUp();
    const { lease } = await pairedWith(world, ["view", "admin"]);
    const made = await world.make(lease);
    expect((await world.claim(codeIn(made))).device.scopes).toEqual(["view", "admin"]);
  });

  it("escalation: more scopes than one's own are refused, and no code is made", async () => {
    const world = await setUp();
    const { lease } = await pairedWith(world, ["view", "admin"]);
    expect(await refusalOf(world.make(lease, { scopes: ["view", "drive"] }))).toMatchObject({
      code: "scope_missing",
      field: "scopes",
    });
    expect(world.authority.codes.open).toBe(0);
    expect(world.events).toEqual([]);
  });

  it("escalation: a device that ends in a day makes none that lives longer", async () => {
    const world = await setUp();
    const { lease } = await pairedWith(world, ["view", "admin"], "x", 1);
    const made = await world.make(lease, { expires_days: 365 });
    expect((await world.claim(codeIn(made))).device.expires).toBe("2026-12-01T12:00:00.000Z");
  });

  it("race: a device that was revoked or lost admin while its body arrived gets no code", async () => {
    const world = await setUp();
    const [gone, narrowed] = [await pairedWith(world, ["admin"]), await pairedWith(world, ["view", "admin"])];
    await world.authority.devices.revoke(gone.id);
    await world.authority.devices.update(narrowed.id, { scopes: ["view"] });
    expect((await refusalOf(world.make(gone.lease))).code).toBe("unauthorized");
    expect((await refusalOf(world.make(narrowed.lease))).code).toBe("scope_missing");
  });

  it.each([
    { scopes: [] },
    { scopes: ["root"] },
    { scopes: "view" },
    { expires_days: 0 },
    { expires_days: -1 },
    { expires_days: "30" },
    { expires_days: 1e9 },
    { expires_days: null },
    null,
  ])("refuses %j", async (body) => {
    const { make, master } = await setUp();
    expect((await refusalOf(make(master, body))).code).toBe("schema");
  });
});
