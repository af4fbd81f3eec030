import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { gateTable } from "../../../src/gateway/gate.ts";
import { createGateway } from "../../../src/gateway/gate-server.ts";
import { exchange, rawRequest } from "./raw-client.ts";
import {
  deviceToken,
  masterToken,
  slowToken,
  startGate,
  type TestGate,
  ticket,
  viewerToken,
} from "./start-gate.ts";

const host = "Host: localhost";
const master = `Authorization: Bearer ${masterToken}`;
const device = `Authorization: Bearer ${deviceToken}`;
const socketHeaders = [
  "Connection: Upgrade",
  "Upgrade: websocket",
  "Sec-WebSocket-Version: 13",
  "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
];

describe("the table", () => {
  it("has its steps in the order that the design gives", () => {
    expect(gateTable.map((step) => step.name)).toEqual([
      "limits",
      "host syntax",
      "class and exposure",
      "host name",
      "origin",
      "credentials",
      "throttle",
      "scope",
    ]);
  });

  it.each([
    ["no scope", { method: "GET", path: "/api/x" }],
    ["an empty scope", { method: "GET", path: "/api/x", scope: {} }],
    ["a malformed path", { method: "GET", path: "api/x", scope: { needs: [] } }],
  ])("does not start with a route that has %s", (_name, row) => {
    const options = {
      routes: [row],
      isStaticPath: () => false,
      settings: { hosts: [], machineNames: [], origins: [], trustedProxies: [] },
    };
    expect(() => createGateway(options as unknown as Parameters<typeof createGateway>[0])).toThrow(TypeError);
  });

  it("does not start with a route that is there twice", async () => {
    const scope = { needs: [] };
    await expect(
      startGate({
        routes: [
          { method: "GET", path: "/api/a/:id", scope },
          { method: "GET", path: "/api/a/:name", scope },
        ],
      }),
    ).rejects.toThrow("twice");
  });
});

describe("with remote access off", () => {
  let gate: TestGate;
  beforeAll(async () => {
    gate = await startGate();
  });
  afterAll(() => gate.close());

  const ask = (line: string, headers: readonly string[], body = "") =>
    exchange({ port: gate.port }, rawRequest(line, headers, body));

  it.each<[string, string, string[], number, string | null]>([
    ["a public route", "GET /api/hello", [host], 200, null],
    ["a page file", "GET /", [host], 200, null],
    ["HEAD of a page file", "HEAD /app.js", [host], 200, null],
    ["the master token on a local request", "GET /api/daemon", [host, master], 200, null],
    ["the token in the query", `GET /api/daemon?token=${masterToken}&a=1`, [host], 200, null],
    ["a device token", "GET /api/daemon", ["Host: LOCALHOST.:9999", device], 200, null],
    [
      "a token that is verified for the first time",
      "GET /api/daemon",
      [host, `Authorization: Bearer ${slowToken}`],
      200,
      null,
    ],
    ["a parameter", "DELETE /api/devices/abc", [host, device], 200, null],
    ["a path with an escaped letter", "GET /%61pi/daemon", [host, device], 200, null],
    ["dns rebinding: a name that resolves to us", "GET /", ["Host: evil.example"], 403, "remote_off"],
    ["a number for an address", "GET /api/hello", ["Host: 2130706433"], 403, "remote_off"],
    ["a short quad", "GET /api/hello", ["Host: 127.1"], 403, "remote_off"],
    [
      "evidence of a forwarder",
      "GET /api/daemon",
      [host, master, "X-Forwarded-For: 127.0.0.1"],
      403,
      "remote_off",
    ],
    ["evidence, empty", "GET /api/daemon", [host, master, "X-Forwarded-For:"], 403, "remote_off"],
    [
      "evidence with underscores",
      "GET /api/daemon",
      [host, master, "X_Forwarded_For: 127.0.0.1"],
      403,
      "remote_off",
    ],
    [
      "a Connection header that strips evidence",
      "GET /api/daemon",
      [host, master, "Connection: close, X-Forwarded-For"],
      403,
      "remote_off",
    ],
    ["an unknown path from far away", "GET /api/nothing", ["Host: evil.example"], 403, "remote_off"],
    ["an upgrade from far away", "GET /api/ws", ["Host: evil.example", ...socketHeaders], 403, "remote_off"],
    ["no Host", "GET /", [], 400, "bad_host"],
    ["an empty Host", "GET /", ["Host:"], 400, "bad_host"],
    ["two Hosts", "GET /", [host, "Host: evil.example"], 400, "bad_host"],
    ["the same Host twice", "GET /", [host, host], 400, "bad_host"],
    ["a Host with a user", "GET /", ["Host: a@localhost"], 400, "bad_host"],
    ["a Host with port 0", "GET /", ["Host: localhost:0"], 400, "bad_host"],
    ["a bracket that does not end the address", "GET /", ["Host: [::1]evil.com"], 400, "bad_host"],
    ["an upgrade without Host", "GET /api/ws", socketHeaders, 400, "bad_host"],
    [
      "the page of another origin",
      "GET /api/hello",
      [host, "Origin: https://evil.example"],
      403,
      "origin_refused",
    ],
    [
      "the page of another port here",
      "POST /api/pair",
      [host, "Origin: http://localhost:3000"],
      403,
      "origin_refused",
    ],
    ["an opaque origin", "GET /api/daemon", [host, device, "Origin: null"], 403, "origin_refused"],
    [
      "two Origins",
      "GET /api/daemon",
      [host, device, "Origin: http://localhost", "Origin: http://localhost"],
      403,
      "origin_refused",
    ],
    [
      "a cross-site request without Origin",
      "GET /api/hello",
      [host, "Sec-Fetch-Site: cross-site"],
      403,
      "origin_refused",
    ],
    [
      "an upgrade by another page",
      "GET /api/ws",
      [host, device, ...socketHeaders, "Origin: https://evil.example"],
      403,
      "origin_refused",
    ],
    [
      "a followed link to the page",
      "GET /",
      [host, "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document"],
      200,
      null,
    ],
    [
      "the page's own origin",
      "GET /api/daemon",
      ["Host: localhost:80", device, "Origin: http://localhost"],
      200,
      null,
    ],
    ["a webview", "GET /api/daemon", [host, device, "Origin: vscode-webview://0a1b"], 200, null],
    ["a configured origin", "GET /api/daemon", [host, device, "Origin: https://ide.example"], 200, null],
    ["no credential", "GET /api/daemon", [host], 401, "unauthorized"],
    ["a wrong token", "GET /api/daemon", [host, "Authorization: Bearer wrong"], 401, "unauthorized"],
    [
      "a token over 1 KiB",
      "GET /api/daemon",
      [host, `Authorization: Bearer ${"a".repeat(1_025)}`],
      401,
      "unauthorized",
    ],
    [
      "a ticket on a request that is no upgrade",
      `GET /api/daemon?ticket=${ticket}`,
      [host],
      401,
      "unauthorized",
    ],
    ["two Authorization lines", "GET /api/daemon", [host, device, device], 400, "bad_request"],
    [
      "a token in header and query",
      `GET /api/daemon?token=${deviceToken}`,
      [host, device],
      400,
      "bad_request",
    ],
    [
      "a token and a ticket",
      `GET /api/ws?token=${deviceToken}&ticket=x`,
      [host, ...socketHeaders],
      400,
      "bad_request",
    ],
    ["an unknown path without a credential", "GET /api/nothing", [host], 401, "unauthorized"],
    ["an unknown path with one", "GET /api/nothing", [host, device], 404, "not_found"],
    ["an unknown path below /mew", "GET /mew/x", [host], 401, "unauthorized"],
    ["an unknown method without a credential", "PUT /api/daemon", [host], 401, "unauthorized"],
    ["an unknown method with one", "PURGE /api/daemon", [host, device], 404, "not_found"],
    ["a preflight gets no CORS", "OPTIONS /api/daemon", [host], 401, "unauthorized"],
    ["an empty parameter", "DELETE /api/devices/", [host, device], 404, "not_found"],
    ["an unknown page", "GET /nothing.js", [host], 404, "not_found"],
    ["a method that pages do not have", "DELETE /app.js", [host], 404, "not_found"],
    [
      "a missing scope",
      "POST /api/daemon/stop",
      [host, `Authorization: Bearer ${viewerToken}`],
      403,
      "scope_missing",
    ],
    ["a socket route without an upgrade", "GET /api/ws", [host, device], 426, "socket_only"],
    [
      "an upgrade of a route that is no socket",
      "GET /api/daemon",
      [host, device, ...socketHeaders],
      426,
      "socket_only",
    ],
    [
      "an upgrade of a route that has another method only",
      "GET /api/daemon/stop",
      [host, device, ...socketHeaders],
      426,
      "socket_only",
    ],
    ["the same without a credential", "GET /api/daemon/stop", [host, ...socketHeaders], 401, "unauthorized"],
    ["an upgrade of a public route", "GET /api/hello", [host, ...socketHeaders], 426, "socket_only"],
    ["an upgrade of the page", "GET /", [host, ...socketHeaders], 426, "socket_only"],
    ["an upgrade without a credential", "GET /api/ws", [host, ...socketHeaders], 401, "unauthorized"],
    ["an upgrade of nothing", "GET /api/nothing", [host, device, ...socketHeaders], 404, "not_found"],
    [
      "h2c",
      "GET /",
      [host, "Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABkAAQAAP__"],
      400,
      "bad_request",
    ],
    ["absolute-form", "GET http://localhost/api/hello", [host], 400, "bad_request"],
    ["asterisk-form", "OPTIONS *", [host], 400, "bad_request"],
    ["CONNECT", "CONNECT localhost:22", [host], 400, "bad_request"],
    ["two slashes", "GET //evil.example/", [host], 400, "bad_request"],
    ["dot segments", "GET /x/../api/daemon", [host, device], 400, "bad_request"],
    ["an encoded slash", "GET /api%2fdaemon", [host, device], 400, "bad_request"],
    ["a bad escape", "GET /api/%zz", [host, device], 400, "bad_request"],
    ["a bad escape in a page", "GET /%", [host], 400, "bad_request"],
    ["a bad escape in the query", "GET /api/hello?a=%f", [host], 400, "bad_request"],
    ["a NUL", "GET /%00", [host], 400, "bad_request"],
    ["an over-long target", `GET /${"a".repeat(8_192)}`, [host], 400, "bad_request"],
    ["a far over-long target", `GET /${"a".repeat(60_000)}`, [host], 400, "bad_request"],
    [
      "an unknown expectation",
      "POST /api/command",
      [host, device, "Expect: banana", "Content-Length: 2"],
      400,
      "bad_request",
    ],
    [
      "100 header lines",
      "GET /api/hello",
      [host, ...Array.from({ length: 99 }, (_, at) => `x${at}: y`)],
      200,
      null,
    ],
    [
      "101 header lines",
      "GET /api/hello",
      [host, ...Array.from({ length: 100 }, (_, at) => `x${at}: y`)],
      431,
      "too_many_headers",
    ],
    [
      "1,500 header lines, evidence last",
      "GET /api/daemon",
      [host, master, ...Array.from({ length: 1_500 }, () => "x: y"), "X-Forwarded-For: 1.1.1.1"],
      431,
      "too_many_headers",
    ],
    ["a header block of 16 KiB", "GET /api/hello", [host, `x: ${"y".repeat(16_384 - 17 - 5)}`], 200, null],
    [
      "a header block of 16 KiB and a byte",
      "GET /api/hello",
      [host, `x: ${"y".repeat(16_384 - 17 - 4)}`],
      431,
      "too_many_headers",
    ],
  ])("answers %s: %s", async (_name, line, headers, status, code) => {
    const before = gate.handled.length;
    const answer = await ask(line, headers);
    expect([answer.status, answer.code]).toEqual([status, code]);
    expect(gate.handled.length - before).toBe(status === 200 ? 1 : 0);
    if (status === 200) return;
    expect(answer.headers).toMatchObject({
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
    });
    expect(Object.keys(answer.headers).filter((name) => name.startsWith("access-control"))).toEqual([]);
    for (const sent of line.split(" ").slice(1)) if (sent.length > 8) expect(answer.body).not.toContain(sent);
    if (status === 401) expect(answer.headers["www-authenticate"]).toBe("Bearer");
  });

  it("hands over a target without credentials, encoded in one way", async () => {
    await ask(`GET /%61pi/daemon?a=1&t%6Fken=${masterToken}&b=2`, [host]);
    expect(gate.handled.at(-1)).toBe("GET /api/daemon?a=1&b=2 local");
  });

  it("answers the same to an unknown, a wrong and a remote master token", async () => {
    const bodies = await Promise.all(
      [[host], [host, "Authorization: Bearer wrong"], [host, "Authorization: Basic x"]].map((headers) =>
        ask("GET /api/daemon", headers),
      ),
    );
    expect(new Set(bodies.map((answer) => answer.body)).size).toBe(1);
  });

  it("had no fault of its own in all of this", () => {
    expect(gate.faults).toEqual([]);
  });
});
