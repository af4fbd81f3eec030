import { describe, expect, it } from "vitest";
import { pairRoutes } from "../../../src/gateway/routes/pair.ts";
import { refusalOf } from "../../pairing/fakes.ts";
import { call, createWorld } from "./pairing-fakes.ts";

async function setUp() {
  const world = await createWorld();
  const { authority } = world;
  const mint = () =>
    authority.codes.mint({ minter: authority.master.lease, scopes: ["view"], expiresDays: null }).code;
  const routes = pairRoutes({ version: "1.2.3", pairing: authority.pairing });
  const pair = (body: unknown, requestClass: "local" | "remote" = "remote") =>
    call(routes, "POST /api/pair", { body, requestClass });
  return { ...world, mint, pair, routes };
}

describe("POST /api/pair", () => {
  it("trades a code, typed as people type, for a token; no credential is needed", async () => {
    const { mint, pair, routes } = await setUp();
    expect(routes[0]?.scope.needs).toBe("public");
    const { body, status } = await pair({
      code: mint().toLowerCase().replace("-", " "),
      name: "Pixel phone",
      kind: "phone",
    });
    expect(status).toBeUndefined();
    expect(body).toEqual({
      token: expect.stringMatching(/^spd_/),
      device: {
        id: expect.any(String),
        name: "Pixel phone",
        kind: "phone",
        scopes: ["view"],
        created: "2026-11-30T12:00:00.000Z",
        expires: null,
      },
      version: "1.2.3",
    });
  });

  it("escalation: scopes, expiry or id in the claim change nothing", async () => {
    const { mint, pair, authority } = await setUp();
    const { body } = await pair({
      code: mint(),
      name: "x",
      scopes: ["admin"],
      expires: "2999-01-01T00:00:00.000Z",
      id: "me",
      local_only: false,
    });
    expect(body).toMatchObject({ device: { scopes: ["view"], expires: null, kind: "other" } });
    expect(authority.devices.list()[0]?.stored.id).not.toBe("me");
  });

  it.each([
    ["a code that is no text", { code: 7, name: "x" }, "schema"],
    ["no name", { code: "ABCDE-FGHJK" }, "schema"],
    ["a name that is no text", { code: "ABCDE-FGHJK", name: {} }, "schema"],
    ["an unknown kind", { code: "ABCDE-FGHJK", name: "x", kind: "toaster" }, "schema"],
    ["an empty nonce", { code: "ABCDE-FGHJK", name: "x", nonce: "" }, "schema"],
    ["a long nonce", { code: "ABCDE-FGHJK", name: "x", nonce: "n".repeat(129) }, "schema"],
    ["null", null, "schema"],
    ["an array", [], "schema"],
    ["neither code nor ticket", { name: "x" }, "invalid_field"],
    ["code and ticket", { code: "ABCDE-FGHJK", ticket: "spt_x", name: "x" }, "invalid_field"],
    ["a wrong code", { code: "ABCDE-FGHJK", name: "x" }, "pairing_refused"],
    ["a malformed code", { code: "hello", name: "x" }, "pairing_refused"],
    ["an empty code", { code: "", name: "x" }, "pairing_refused"],
    ["a code of a megabyte", { code: "A".repeat(1_000_000), name: "x" }, "pairing_refused"],
    ["a wrong ticket", { ticket: "spt_x", name: "x" }, "pairing_refused"],
  ])("refuses %s, and nothing is paired", async (_, body, code) => {
    const { pair, authority } = await setUp();
    expect((await refusalOf(pair(body))).code).toBe(code);
    expect(authority.devices.count).toBe(0);
  });

  it("guessing: the eleventh wrong or malformed code gets 429 with the time to wait", async () => {
    const { pair, mint } = await setUp();
    const code = mint();
    for (let count = 0; count < 10; count += 1) await refusalOf(pair({ code: "x", name: "x" }));
    expect(await refusalOf(pair({ code: "00000-00000", name: "x" }))).toMatchObject({
      code: "pairing_locked",
      retryAfterSeconds: 600,
    });
    expect((await pair({ code, name: "x" })).body).toHaveProperty("token");
  });

  it("trades a page ticket on this machine, once", async () => {
    const { pair, authority } = await setUp();
    const { ticket } = authority.tickets.issue({
      lease: authority.master.lease,
      requestClass: "local",
      purpose: "page",
    });
    expect((await pair({ ticket, name: "browser" }, "local")).body).toMatchObject({
      device: { kind: "browser" },
    });
    expect((await refusalOf(pair({ ticket, name: "browser" }, "local"))).code).toBe("pairing_refused");
    expect(authority.devices.list().map(({ lease }) => lease.localOnly)).toEqual([true]);
  });
});
