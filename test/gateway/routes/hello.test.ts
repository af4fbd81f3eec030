import { describe, expect, it } from "vitest";
import { helloProof } from "../../../src/auth/master-token.ts";
import { helloRoutes } from "../../../src/gateway/routes/hello.ts";
import { refusalOf } from "../../pairing/fakes.ts";
import { call } from "./pairing-fakes.ts";

const masterToken = `spm_${"A".repeat(43)}`;
const routesWith = (access: "off" | "tunnel" | "on") =>
  helloRoutes({ version: "1.2.3", access: () => access, port: () => 7700, masterToken: () => masterToken });
const challenge = "c".repeat(16);

describe("GET /api/hello", () => {
  it.each([
    ["off", false],
    ["tunnel", true],
    ["on", true],
  ] as const)("with access %s says remote %s, and needs no credential", async (access, remote) => {
    const routes = routesWith(access);
    expect(routes[0]?.scope.needs).toBe("public");
    expect((await call(routes, "GET /api/hello")).body).toEqual({
      app: "sallyport",
      version: "1.2.3",
      remote,
      pairing: true,
      protocols: ["native/1", "mew/3"],
    });
  });

  it("proves to this machine that it knows the master token", async () => {
    const { body } = await call(routesWith("off"), "GET /api/hello", {
      requestClass: "local",
      query: { challenge },
    });
    expect(body).toMatchObject({ proof: helloProof(masterToken, 7700, challenge) });
  });

  it("relay: a remote caller gets no proof that it could pass on", async () => {
    const { body } = await call(routesWith("on"), "GET /api/hello", {
      requestClass: "remote",
      query: { challenge },
    });
    expect(body).not.toHaveProperty("proof");
  });

  it.each(["", "c".repeat(15), "c".repeat(65), ["a", "b"]])("refuses the challenge %j", async (bad) => {
    const refused = call(routesWith("off"), "GET /api/hello", {
      requestClass: "local",
      query: { challenge: bad },
    });
    expect((await refusalOf(refused)).code).toBe("schema");
  });
});
