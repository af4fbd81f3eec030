import { type AddressInfo, connect, createServer } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { exchange, rawRequest } from "./raw-client.ts";
import { deviceToken, masterToken, startGate, type TestGate } from "./start-gate.ts";

const host = "Host: localhost";
const master = `Authorization: Bearer ${masterToken}`;
const device = `Authorization: Bearer ${deviceToken}`;
const socketHeaders = [
  "Connection: Upgrade",
  "Upgrade: websocket",
  "Sec-WebSocket-Version: 13",
  "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
];

describe("a door for forwarders", () => {
  let gate: TestGate;
  beforeAll(async () => {
    gate = await startGate({ initialAccess: "tunnel" });
  });
  afterAll(() => gate.close());

  it("a raw TCP forwarder with `Host: localhost` and the right master token is refused", async () => {
    const door = await gate.openForwarder("https://x.example");
    const forwarder = createServer((client) => {
      const upstream = connect(door.port ?? 0, "127.0.0.1");
      client.pipe(upstream).pipe(client);
      for (const socket of [client, upstream]) socket.on("error", () => socket.destroy());
    });
    await new Promise<void>((resolve) => forwarder.listen(0, "127.0.0.1", resolve));
    const port = (forwarder.address() as AddressInfo).port;
    const lying = await exchange({ port }, rawRequest("GET /api/daemon", [host, master]));
    expect([lying.status, lying.code]).toEqual([403, "host_refused"]);
    const honest = await exchange({ port }, rawRequest("GET /api/daemon", ["Host: x.example", master]));
    expect([honest.status, honest.code]).toEqual([401, "unauthorized"]);
    const upgrade = await exchange(
      { port },
      rawRequest("GET /api/ws", ["Host: x.example", master, ...socketHeaders]),
    );
    expect(upgrade.status).toBe(401);
    expect(gate.handled).toEqual([]);
    const paired = await exchange({ port }, rawRequest("GET /api/daemon", ["Host: x.example", device]));
    expect(paired.status).toBe(200);
    expect(gate.handled).toEqual(["GET /api/daemon remote"]);
    forwarder.close();
    await gate.gateway.closeDoor(door, 0);
  });

  it("even one whose public address is localhost makes nothing local", async () => {
    const door = await gate.openForwarder("http://localhost");
    const answer = await exchange({ port: door.port ?? 0 }, rawRequest("GET /api/daemon", [host, master]));
    expect([answer.status, answer.code]).toEqual([401, "unauthorized"]);
  });

  it("answers under its public address with and without the base path, and to its own origin only", async () => {
    const door = await gate.openForwarder("https://x.example:8443/base");
    const ask = (line: string, ...headers: string[]) =>
      exchange({ port: door.port ?? 0 }, rawRequest(line, headers));
    expect((await ask("GET /base/api/daemon?a=1", "Host: x.example:8443", device)).status).toBe(200);
    expect(gate.handled.at(-1)).toBe("GET /api/daemon?a=1 remote");
    expect((await ask("GET /api/daemon", "Host: x.example:8443", device)).status).toBe(200);
    expect((await ask("GET /base", "Host: x.example:8443")).status).toBe(200);
    expect((await ask("GET /", "Host: x.example")).code).toBe("host_refused");
    expect(
      (await ask("GET /api/hello", "Host: x.example:8443", "Origin: https://x.example:8443")).status,
    ).toBe(200);
    expect((await ask("GET /api/hello", "Host: x.example:8443", "Origin: https://x.example")).code).toBe(
      "origin_refused",
    );
    expect((await ask("GET /api/hello", "Host: x.example:8443", "Origin: http://x.example:8443")).code).toBe(
      "origin_refused",
    );
  });

  it("answers to nothing before it has an address, and lets nothing through that comes to the main door instead", async () => {
    const door = await gate.openForwarder(null);
    const ask = (port: number) => exchange({ port }, rawRequest("GET /", ["Host: x.example"]));
    expect((await ask(door.port ?? 0)).code).toBe("host_refused");
    door.setPublicUrl("https://x.example");
    expect((await ask(door.port ?? 0)).status).toBe(200);
    expect((await ask(gate.port)).code).toBe("remote_off");
    gate.setAccess("off");
    expect((await ask(door.port ?? 0)).code).toBe("remote_off");
    gate.setAccess("tunnel");
  });

  it("listens on a Unix socket as well, and takes over one that nobody listens on", async () => {
    const { mkdtemp, rm } = await import("node:fs/promises");
    const folder = await mkdtemp("/tmp/gate-");
    const path = `${folder}/door.sock`;
    const open = (name: string) =>
      gate.gateway.openDoor({
        kind: "forwarder",
        name,
        listen: { kind: "socket", path },
        publicUrl: "http://box",
        addressSource: "none",
      });
    const door = await open("unix");
    const answer = await exchange({ path }, rawRequest("GET /api/daemon", ["Host: box", master]));
    expect(answer.status).toBe(401);
    await expect(open("unix-2")).rejects.toMatchObject({ code: "EADDRINUSE" });
    expect((await exchange({ path }, rawRequest("GET /", ["Host: box"]))).status).toBe(200);
    await gate.gateway.closeDoor(door, 0);
    await rm(folder, { recursive: true });
  });
});

describe("with remote access on", () => {
  let gate: TestGate;
  beforeAll(async () => {
    gate = await startGate({ initialAccess: "on" });
  });
  afterAll(() => gate.close());

  it.each([
    ["192.168.1.20:7700", 200, null],
    ["devbox", 200, null],
    ["Box.Example.", 200, null],
    ["evil.example", 403, "host_refused"],
    ["127.1", 403, "host_refused"],
  ])("Host %s: %s %s", async (name, status, code) => {
    const answer = await exchange(
      { port: gate.port },
      rawRequest("GET /api/daemon", [`Host: ${name}`, device]),
    );
    expect([answer.status, answer.code]).toEqual([status, code]);
    if (code === "host_refused") expect(answer.body).toContain("`hosts`");
  });

  it("lets the master token count on no remote request", async () => {
    const answer = await exchange(
      { port: gate.port },
      rawRequest("GET /api/daemon", ["Host: devbox", master]),
    );
    expect([answer.status, answer.code]).toEqual([401, "unauthorized"]);
  });

  it("a proxy that rewrites Host to localhost is refused with the name of the setting", async () => {
    const answer = await exchange(
      { port: gate.port },
      rawRequest("GET /api/daemon", [host, master, "Via: 1.1 proxy"]),
    );
    expect([answer.status, answer.code]).toEqual([403, "host_refused"]);
    expect(answer.body).toContain("[[door]]");
  });
});
