import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { exchange, openRaw, parseAnswer, rawRequest } from "./raw-client.ts";
import { deviceToken, masterToken, slowToken, startGate, type TestGate, ticket } from "./start-gate.ts";

const host = "Host: localhost";
const master = `Authorization: Bearer ${masterToken}`;
const device = `Authorization: Bearer ${deviceToken}`;
const socketHeaders = [
  "Connection: Upgrade",
  "Upgrade: websocket",
  "Sec-WebSocket-Version: 13",
  "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
];

describe("HTTP as bytes", () => {
  let gate: TestGate;
  beforeAll(async () => {
    gate = await startGate();
  });
  afterAll(() => gate.close());

  const ask = (line: string, headers: readonly string[], body = "") =>
    exchange({ port: gate.port }, rawRequest(line, headers, body));

  it("speaks 1.0 to nobody, and names nothing where the parser refuses", async () => {
    const old = await exchange({ port: gate.port }, "GET /api/hello HTTP/1.0\r\n\r\n");
    expect([old.status, old.code, old.headers.connection]).toEqual([400, "bad_request", "close"]);
    for (const bytes of [
      "BANANA / HTTP/1.1\r\nHost: localhost\r\n\r\n",
      "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
      "GET /a b HTTP/1.1\r\nHost: localhost\r\n\r\n",
      "GET / HTTP/1.1\r\nHost : localhost\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: local\r\n host\r\n\r\n",
      "GET / HTTP/1.1\nHost: localhost\n\n",
      "\u0016\u0003\u0001\u0002\u0000",
    ]) {
      const answer = await exchange({ port: gate.port }, bytes);
      expect([answer.status, answer.body, Object.keys(answer.headers).sort()]).toEqual([
        400,
        "",
        ["connection", "content-length"],
      ]);
    }
    const long = await exchange(
      { port: gate.port },
      `GET / HTTP/1.1\r\nHost: localhost\r\nx: ${"y".repeat(200_000)}\r\n\r\n`,
    );
    expect([long.status, long.body]).toEqual([431, ""]);
  });

  it.each([
    ["two lengths", "Content-Length: 5\r\nContent-Length: 6"],
    ["length and chunked", "Content-Length: 5\r\nTransfer-Encoding: chunked"],
    ["chunked that is not last", "Transfer-Encoding: chunked, identity"],
    ["a coding before chunked", "Transfer-Encoding: gzip, chunked"],
    ["an unknown coding", "Transfer-Encoding: xchunked"],
    ["a signed length", "Content-Length: +5"],
  ])("request smuggling: refuses %s, and serves nothing behind it", async (_name, framing) => {
    const before = gate.handled.length;
    const client = await openRaw({ port: gate.port });
    client.send(
      `POST /api/command HTTP/1.1\r\n${host}\r\n${master}\r\n${framing}\r\n\r\n0\r\n\r\nGET /api/daemon HTTP/1.1\r\n${host}\r\n${master}\r\n\r\n`,
    );
    client.socket.once("end", () => client.socket.end());
    const text = await client.closed();
    expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 400"]);
    expect(gate.handled.length).toBe(before);
  });

  it("answers pipelined requests in their order, each judged by itself", async () => {
    const client = await openRaw({ port: gate.port });
    client.send(
      [
        rawRequest("GET /api/hello?1", [host]),
        rawRequest("GET /api/daemon", [host]),
        rawRequest("GET /api/daemon?2", [host, `Authorization: Bearer ${slowToken}`]),
        rawRequest("GET /api/hello?3", [host]),
      ].join(""),
    );
    const text = await client.until(/\/api\/hello\?3/);
    expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual([
      "HTTP/1.1 200",
      "HTTP/1.1 401",
      "HTTP/1.1 200",
      "HTTP/1.1 200",
    ]);
    client.destroy();
  });

  it("closes the connection of a refused request whose body it has not read, after the answer", async () => {
    const client = await openRaw({ port: gate.port });
    client.send(`POST /api/command HTTP/1.1\r\n${host}\r\nContent-Length: 1000000\r\n\r\n`);
    client.send("x".repeat(500_000));
    client.socket.once("end", () => client.socket.end());
    const answer = parseAnswer(await client.closed());
    expect([answer.status, answer.code, answer.headers.connection]).toEqual([401, "unauthorized", "close"]);
  });

  it("serves nothing behind a refusal that closes", async () => {
    const before = gate.handled.length;
    const client = await openRaw({ port: gate.port });
    client.send(
      `POST /api/command HTTP/1.1\r\n${host}\r\nContent-Length: 2\r\n\r\n{}${rawRequest("GET /api/daemon", [host, master])}`,
    );
    client.socket.once("end", () => client.socket.end());
    expect((await client.closed()).match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 401"]);
    expect(gate.handled.length).toBe(before);
  });

  it("says 100 Continue only to those it lets in", async () => {
    const body = ["Expect: 100-continue", "Content-Length: 2"];
    const client = await openRaw({ port: gate.port });
    client.send(rawRequest("POST /api/command", [host, device, ...body]));
    await client.until(/^HTTP\/1\.1 100 Continue\r\n\r\n$/);
    client.send("{}");
    await client.until(/HTTP\/1\.1 200/);
    client.destroy();
    const refused = await ask("POST /api/command", [host, ...body]);
    expect([refused.status, refused.headers.connection]).toEqual([401, "close"]);
  });

  it("opens a socket for a token, and for a ticket in the query", async () => {
    for (const [target, credential] of [
      ["/api/ws?version=1", device],
      [`/api/ws?ticket=${ticket}`, "X-Nothing: x"],
    ]) {
      const client = await openRaw({ port: gate.port });
      client.send(rawRequest(`GET ${target}`, [host, `${credential}`, ...socketHeaders]));
      await client.until(/^HTTP\/1\.1 101 /);
      client.send("echo");
      await client.until(/echo$/);
      client.destroy();
    }
    expect(gate.handled.at(-1)).toBe("GET /api/ws local");
  });

  it("destroys the socket of a refused upgrade", async () => {
    const client = await openRaw({ port: gate.port });
    client.send(rawRequest("GET /api/ws", [host, ...socketHeaders]));
    const answer = parseAnswer(await client.closed());
    expect([answer.status, answer.code]).toEqual([401, "unauthorized"]);
  });

  it("accepts no upgrade with a body, by POST, or behind an unanswered request", async () => {
    const before = gate.handled.length;
    const withBody = await ask("GET /api/ws", [host, device, ...socketHeaders, "Content-Length: 3"], "abc");
    const byPost = await ask("POST /api/ws", [host, device, ...socketHeaders]);
    expect([withBody.code, byPost.code, gate.handled.length]).toEqual(["bad_request", "bad_request", before]);
    const client = await openRaw({ port: gate.port });
    client.send(
      rawRequest("GET /api/daemon", [host, `Authorization: Bearer ${slowToken}`]) +
        rawRequest("GET /api/ws", [host, device, ...socketHeaders]),
    );
    expect(await client.closed()).not.toContain("101");
  });

  it("passes an IPv4-mapped and an IPv6 loopback peer for local", async () => {
    const answer = await exchange(
      { port: gate.port, host: "::1" },
      rawRequest("GET /api/daemon", ["Host: [::1]:7700", master]),
    );
    expect(answer.status).toBe(200);
    await gate.main.setBinds([{ host: "::", whenMissing: { bind: "0.0.0.0" } }]);
    const mapped = await exchange(
      { port: gate.port, host: "127.0.0.1" },
      rawRequest("GET /api/daemon", [host, master]),
    );
    expect(mapped.status).toBe(200);
  });

  it("had no fault of its own in all of this", () => {
    expect(gate.faults).toEqual([]);
  });
});
