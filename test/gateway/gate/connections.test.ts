import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { networkInterfaces } from "node:os";
import { connect as connectTls } from "node:tls";
import { afterEach, describe, expect, it } from "vitest";
import { mainDoorBinds } from "../../../src/gateway/doors-hosts.ts";
import { exchange, openRaw, type RawClient, rawRequest } from "./raw-client.ts";
import { deviceToken, masterToken, startGate, type TestGate, type TestGateOptions } from "./start-gate.ts";

const host = "Host: localhost";
const master = `Authorization: Bearer ${masterToken}`;
const hello = rawRequest("GET /api/hello", [host]);
const daemon = rawRequest("GET /api/daemon", [host, master]);
const socketHeaders = [
  "Connection: Upgrade",
  "Upgrade: websocket",
  "Sec-WebSocket-Version: 13",
  "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
];

const lanAddresses = Object.values(networkInterfaces())
  .flatMap((addresses) => addresses ?? [])
  .filter((address) => address.family === "IPv4" && !address.internal)
  .slice(0, 1)
  .map((address) => address.address);

const open: TestGate[] = [];
afterEach(async () => {
  for (const gate of open.splice(0)) await gate.close();
});

/** A gate whose clock stands still until it is put forward. */
async function start(options: TestGateOptions = {}): Promise<TestGate & { skip(ms: number): void }> {
  let skippedMs = 0;
  const gate = await startGate({ nowMs: () => skippedMs, ...options });
  open.push(gate);
  return Object.assign(gate, {
    skip: (ms: number) => {
      skippedMs += ms;
      for (const door of gate.gateway.doors()) door.closeOverdue();
    },
  });
}

function openMany(port: number, count: number): Promise<RawClient[]> {
  return Promise.all(Array.from({ length: count }, () => openRaw({ port })));
}

/** Resolves when the server has counted this many connections. */
async function counted(gate: TestGate, count: number): Promise<void> {
  while (gate.gateway.connections().length !== count) await new Promise((resolve) => setImmediate(resolve));
}

/** Resolves when the main door has received this many bytes on all its open connections together. */
async function received(gate: TestGate, bytes: number): Promise<void> {
  const sum = (): number =>
    [...gate.main.connections].reduce((total, each) => total + each.socket.bytesRead, 0);
  while (sum() < bytes) await new Promise((resolve) => setImmediate(resolve));
}

/** Resolves when no answer of the main door is on its way any more. */
async function answered(gate: TestGate): Promise<void> {
  while ([...gate.main.connections].some((each) => each.busy))
    await new Promise((resolve) => setImmediate(resolve));
}

describe("half-open sockets", () => {
  it("are 64 of one address: one more closes the oldest", async () => {
    const gate = await start();
    const first = await openRaw({ port: gate.port });
    const others = await openMany(gate.port, 63);
    await counted(gate, 64);
    const last = await openRaw({ port: gate.port });
    await counted(gate, 65);
    gate.skip(250);
    await first.closed();
    await counted(gate, 64);
    last.send(hello);
    await last.until(/200 OK/);
    expect(others.every((client) => !client.socket.destroyed)).toBe(true);
  });

  it("are more for a moment: of 200 that come at once and ask, each is answered", async () => {
    const gate = await start();
    const clients = await openMany(gate.port, 200);
    await counted(gate, 200);
    for (const client of clients) client.send(daemon);
    await Promise.all(clients.map((client) => client.until(/200 OK/)));
    gate.skip(250);
    expect(gate.gateway.connections()).toHaveLength(200);
  });

  it("1,000 silent sockets do not keep a device out, nor close the socket of one that is in", async () => {
    const gate = await start({ initialAccess: "tunnel" });
    const door = await gate.openForwarder("http://x.example");
    const port = door.port ?? 0;
    const paired = rawRequest("GET /api/daemon", ["Host: x.example", `Authorization: Bearer ${deviceToken}`]);
    const idle = await openRaw({ port });
    idle.send(paired);
    await idle.until(/200 OK/);
    const socket = await openRaw({ port });
    socket.send(
      rawRequest("GET /api/ws", [
        "Host: x.example",
        `Authorization: Bearer ${deviceToken}`,
        ...socketHeaders,
      ]),
    );
    await socket.until(/101/);
    const silent = await openMany(port, 1_100);
    const late = await openRaw({ port });
    late.send(paired);
    await late.until(/200 OK/);
    idle.send(paired);
    await idle.until(/200 OK[\s\S]*200 OK/);
    socket.send("still here");
    await socket.until(/still here/);
    await silent[0]?.closed();
    // 1,024 half-open ones at most, beside the three of the device.
    while (gate.gateway.connections().length > 1_027) await new Promise((resolve) => setImmediate(resolve));
    for (const client of silent) client.destroy();
  });

  it("include those that never send the body they announced, and those that were only refused", async () => {
    const gate = await start();
    const first = await openRaw({ port: gate.port });
    first.send(`POST /api/pair HTTP/1.1\r\n${host}\r\nContent-Length: 10\r\n\r\n{`);
    const second = await openRaw({ port: gate.port });
    second.send(rawRequest("GET /api/daemon", [host]));
    await second.until(/401/);
    await openMany(gate.port, 64);
    await counted(gate, 66);
    gate.skip(250);
    await first.closed();
    await second.closed();
  });
});

describe("time-outs", () => {
  it("close a silent socket after 3 seconds", async () => {
    const gate = await start();
    const client = await openRaw({ port: gate.port });
    await counted(gate, 1);
    gate.skip(2_900);
    expect(gate.gateway.connections()).toHaveLength(1);
    gate.skip(100);
    expect(await client.closed()).toBe("");
  });

  it("close a header that does not end, on a new connection and on one that was used before", async () => {
    const gate = await start();
    const fresh = await openRaw({ port: gate.port });
    fresh.send("GET / HTTP/1.1\r\nHost: loc");
    await received(gate, 24);
    gate.skip(3_000);
    await fresh.closed();

    const used = await openRaw({ port: gate.port });
    used.send(daemon);
    await used.until(/200 OK/);
    await answered(gate);
    gate.skip(0);
    used.send("GET / HTTP/1.1\r\nHost: loc");
    await received(gate, daemon.length + 24);
    gate.skip(500);
    gate.skip(2_900);
    expect(gate.gateway.connections()).toHaveLength(1);
    used.send("al");
    await received(gate, daemon.length + 26);
    gate.skip(100);
    await used.closed();
  });

  it("let an idle connection of a device be for 30 seconds, and no longer", async () => {
    const gate = await start();
    const client = await openRaw({ port: gate.port });
    client.send(daemon);
    await client.until(/200 OK/);
    await answered(gate);
    gate.skip(0);
    gate.skip(29_000);
    client.send(daemon);
    await client.until(/200 OK[\s\S]*200 OK/);
    await answered(gate);
    gate.skip(1_000);
    gate.skip(29_000);
    expect(gate.gateway.connections()).toHaveLength(1);
    gate.skip(1_000);
    await client.closed();
  });

  it("close a body that nobody reads and nobody sends, and let one go on that makes progress", async () => {
    const gate = await start({ handleRequest: (request) => void request.resume() });
    const header = `POST /api/command HTTP/1.1\r\n${host}\r\nAuthorization: Bearer ${deviceToken}\r\nContent-Length: 1000000\r\n\r\n`;
    const stuck = await openRaw({ port: gate.port });
    const going = await openRaw({ port: gate.port });
    stuck.send(header);
    going.send(header);
    await received(gate, 2 * header.length);
    gate.skip(0);
    going.send("x".repeat(20_000));
    await received(gate, 2 * header.length + 20_000);
    gate.skip(6_000);
    await stuck.closed();
    expect(gate.gateway.connections()).toHaveLength(1);
    gate.skip(6_000);
    await going.closed();
  });

  it("close a connection that does not read its answer for a minute", async () => {
    const gate = await start({
      handleRequest: (_request, response) => void response.end("x".repeat(50_000_000)),
    });
    const client = await openRaw({ port: gate.port });
    client.socket.pause();
    client.send(daemon);
    await received(gate, daemon.length);
    gate.skip(0);
    gate.skip(59_000);
    expect(gate.gateway.connections()).toHaveLength(1);
    gate.skip(61_000);
    await counted(gate, 0);
  });

  it("never close a socket that was upgraded", async () => {
    const gate = await start();
    const client = await openRaw({ port: gate.port });
    client.send(rawRequest("GET /api/ws", [host, master, ...socketHeaders]));
    await client.until(/101/);
    gate.skip(1_000_000);
    client.send("still here");
    await client.until(/still here/);
  });
});

describe("exposure", () => {
  it("goes on and off again without dropping a local connection, and takes the remote ones with it", async () => {
    const gate = await start();
    const local = await openRaw({ port: gate.port });
    local.send(daemon);
    await local.until(/200 OK/);

    gate.setAccess("on");
    await gate.main.setBinds(mainDoorBinds("on", null));
    expect(gate.main.bound).toHaveLength(1);
    const remote = await openRaw({ port: gate.port });
    remote.send(rawRequest("GET /", ["Host: devbox"]));
    await remote.until(/200 OK/);
    const remoteSocket = await openRaw({ port: gate.port });
    remoteSocket.send(
      rawRequest("GET /api/ws", ["Host: devbox", `Authorization: Bearer ${deviceToken}`, ...socketHeaders]),
    );
    await remoteSocket.until(/101/);
    expect(
      gate.gateway.connections().filter((connection) => connection.requestClass === "remote"),
    ).toHaveLength(2);

    gate.setAccess("off");
    await gate.main.setBinds(mainDoorBinds("off", null));
    gate.gateway.closeUnadmitted(50);
    await remote.closed();
    await remoteSocket.closed();
    local.send(daemon);
    await local.until(/200 OK[\s\S]*200 OK/);
    expect(gate.main.bound[0]).toBe(`127.0.0.1:${gate.port}`);
    expect(await exchange({ port: gate.port }, daemon)).toMatchObject({ status: 200 });
  });

  it("changes what it binds without resetting those who have just connected", async () => {
    const gate = await start();
    for (const access of ["on", "off"] as const) {
      const connecting = Array.from({ length: 30 }, () => openRaw({ port: gate.port }));
      const changed = gate.main.setBinds(mainDoorBinds(access, null));
      for (const client of await Promise.all(connecting)) {
        client.send(hello);
        await client.until(/200 OK/);
        client.destroy();
      }
      await changed;
    }
  });

  it.each(lanAddresses)("binds the network at %s only while it is on", async (address) => {
    const gate = await start();
    await expect(openRaw({ port: gate.port, host: address })).rejects.toMatchObject({ code: "ECONNREFUSED" });
    gate.setAccess("on");
    await gate.main.setBinds(mainDoorBinds("on", null));
    const silent = await openRaw({ port: gate.port, host: address });
    // A peer of the network is remote, whatever Host it names.
    const answer = await exchange({ port: gate.port, host: address }, daemon);
    expect([answer.status, answer.code]).toEqual([403, "host_refused"]);
    gate.setAccess("off");
    await gate.main.setBinds(mainDoorBinds("off", null));
    gate.gateway.closeUnadmitted(0);
    await silent.closed();
    await expect(openRaw({ port: gate.port, host: address })).rejects.toMatchObject({ code: "ECONNREFUSED" });
  });

  it("that cannot be had leaves the door as it was", async () => {
    const gate = await start();
    await expect(gate.main.setBinds(mainDoorBinds("on", "203.0.113.77"))).rejects.toMatchObject({
      code: expect.stringMatching(/EADDRNOTAVAIL|EACCES|EINVAL/),
    });
    expect(gate.main.bound[0]).toBe(`127.0.0.1:${gate.port}`);
    expect((await exchange({ port: gate.port }, daemon)).status).toBe(200);
  });
});

describe("TLS on the main door", () => {
  const folder = new URL("./tls/", import.meta.url);
  const files = async () => ({
    cert: await readFile(new URL("cert.pem", folder), "utf8"),
    keySecret: await readFile(new URL("key.pem", folder), "utf8"),
  });

  async function overTls(port: number, host: string, bytes: string): Promise<string> {
    const socket = connectTls({ port, host, rejectUnauthorized: false });
    await once(socket, "secureConnect");
    socket.write(bytes);
    let text = "";
    for await (const chunk of socket) {
      text += chunk;
      if (/\r\n\r\n./.test(text)) break;
    }
    return text;
  }

  it("serves loopback peers with and without it, told apart by the first byte", async () => {
    const gate = await start({ tls: await files() });
    expect((await exchange({ port: gate.port }, daemon)).status).toBe(200);
    expect(await overTls(gate.port, "127.0.0.1", daemon)).toMatch(/^HTTP\/1\.1 200/);
    const origin = (scheme: string) => rawRequest("GET /api/hello", [host, `Origin: ${scheme}://localhost`]);
    expect(await overTls(gate.port, "127.0.0.1", origin("https"))).toMatch(/^HTTP\/1\.1 200/);
    expect(await overTls(gate.port, "127.0.0.1", origin("http"))).toMatch(/^HTTP\/1\.1 403/);
    expect((await exchange({ port: gate.port }, origin("http"))).status).toBe(200);
  });

  it.each(lanAddresses)("serves peers of the network only with it (%s)", async (address) => {
    const gate = await start({ tls: await files(), initialAccess: "on" });
    const plain = await exchange(
      { port: gate.port, host: address },
      rawRequest("GET /", [`Host: ${address}`]),
    );
    expect([plain.status, plain.body]).toEqual([400, ""]);
    expect(gate.handled).toEqual([]);
    expect(await overTls(gate.port, address, rawRequest("GET /", [`Host: ${address}`]))).toMatch(
      /^HTTP\/1\.1 200/,
    );
  });

  it("closes a handshake that does not end, and garbage in place of one", async () => {
    const gate = await start({ tls: await files() });
    const garbage = await openRaw({ port: gate.port });
    garbage.send(Buffer.from([0x16, 0x03, 0x01, 0x00, 0x05, 0xff, 0x00, 0x00, 0x01, 0x00]));
    await garbage.closed();
    const stuck = await openRaw({ port: gate.port });
    stuck.send(Buffer.from([0x16, 0x03]));
    const silent = await openRaw({ port: gate.port });
    await counted(gate, 2);
    gate.skip(3_000);
    await stuck.closed();
    await silent.closed();
    expect(gate.faults).toEqual([]);
  });

  it("refuses a certificate that cannot be read, and keeps the one before", async () => {
    const gate = await start({ tls: await files() });
    expect(() => gate.main.setTls({ cert: "banana", keySecret: "banana" })).toThrow();
    expect(await overTls(gate.port, "127.0.0.1", daemon)).toMatch(/^HTTP\/1\.1 200/);
  });
});

describe("closing", () => {
  it("lets an answer on its way leave, and resolves when all connections are gone", async () => {
    let finish: () => void = () => undefined;
    const gate = await start({
      handleRequest: (_request, response) => {
        finish = () => response.end("late");
      },
    });
    const idle = await openRaw({ port: gate.port });
    const busy = await openRaw({ port: gate.port });
    busy.send(daemon);
    while (gate.gateway.connections().length < 2) await new Promise((resolve) => setImmediate(resolve));
    await received(gate, daemon.length);
    const closed = gate.gateway.close(400);
    await idle.closed();
    finish();
    await busy.until(/late$/);
    await closed;
    await expect(openRaw({ port: gate.port })).rejects.toMatchObject({ code: "ECONNREFUSED" });
  });

  it("a client that closes after its answer can send the rest of a refused body and read why", async () => {
    const gate = await start({
      handleRequest: (_request, response) => response.writeHead(413, { "content-length": 2 }).end("no"),
    });
    const client = await openRaw({ port: gate.port });
    const body = Buffer.alloc(8 * 1024 * 1024);
    client.send(
      rawRequest("POST /api/command", [host, master, `Content-Length: ${body.length}`, "Connection: close"]),
    );
    await client.until(/413/);
    client.socket.pause();
    const failure = await new Promise((resolve) => client.socket.write(body, resolve));
    expect(failure ?? null).toBeNull();
    client.socket.resume();
    expect(await client.closed()).toMatch(/^HTTP\/1.1 413 [\s\S]*no$/);
  });
});
