import { once } from "node:events";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { Agent, request as httpRequest } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Type } from "typebox";
import { afterEach, describe, expect, it } from "vitest";
import { createHeldBytes } from "../../src/gateway/held-bytes.ts";
import { type Route, route } from "../../src/gateway/route.ts";
import { loadStaticFiles } from "../../src/gateway/static.ts";
import { rawRequest, request } from "../helpers/http.ts";
import { deviceLease, startTestApp, type TestApp } from "./harness.ts";

let app: TestApp;
afterEach(() => app.close());

const echo = (calls: unknown[], options: Partial<Route> = {}): Route => ({
  ...route({
    method: "POST",
    path: "/api/echo",
    scope: { needs: [] },
    body: Type.Object({ text: Type.String(), list: Type.Optional(Type.Array(Type.Integer())) }),
    handle: ({ body }) => {
      calls.push(body);
      return { body };
    },
  }),
  ...options,
});

async function startEcho(options: Partial<Route> = {}, lease = deviceLease()) {
  const calls: unknown[] = [];
  app = await startTestApp({ lease, routes: [echo(calls, options)] });
  return calls;
}

interface RawBody {
  readonly body: string | Buffer;
  readonly headers?: Record<string, string>;
  readonly agent?: Agent;
  readonly path?: string;
}

/** Sends a body as it is; `request` would make JSON of it. */
async function post({ body, headers, agent, path = "/api/echo" }: RawBody) {
  const outgoing = httpRequest(`${app.base}${path}`, {
    method: "POST",
    agent: agent ?? false,
    headers: { "content-type": "application/json", ...headers },
  });
  outgoing.end(body);
  const [answer] = await once(outgoing, "response");
  // The test may end while a refused body is still being sent.
  outgoing.on("error", () => undefined);
  const chunks: Buffer[] = [];
  for await (const chunk of answer) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString();
  return { status: answer.statusCode, headers: answer.headers, text, json: JSON.parse(text || "null") };
}

describe("bodies", () => {
  const deep = (depth: number) => `{"text":"x","deep":${"[".repeat(depth)}${"]".repeat(depth)}}`;
  const good = '{"text":"x"}';
  const rows: readonly [string, RawBody, number, string, string?][] = [
    ["no body", { body: "" }, 422, "invalid_field", "text"],
    ["an empty object", { body: "{}" }, 422, "invalid_field", "text"],
    ["a wrong type", { body: '{"text":7}' }, 422, "invalid_field", "text"],
    ["a wrong element", { body: '{"text":"x","list":[1,"2"]}' }, 422, "invalid_field", "list.1"],
    [
      "a million wrong elements",
      { body: `{"text":"x","list":[${"0.5,".repeat(15_000)}1]}` },
      422,
      "invalid_field",
    ],
    ["an array", { body: "[]" }, 422, "invalid_field"],
    ["null", { body: "null" }, 422, "invalid_field"],
    ["broken JSON", { body: '{"text":' }, 400, "bad_request"],
    ["a byte order mark", { body: `\ufeff${good}` }, 400, "bad_request"],
    ["invalid UTF-8", { body: Buffer.from([0x22, 0xff, 0x22]) }, 400, "bad_request"],
    ["JSON 66 deep", { body: deep(65) }, 400, "bad_request"],
    ["30,000 open brackets", { body: "[".repeat(30_000) }, 400, "bad_request"],
    ["a __proto__ key", { body: '{"text":"x","__proto__":{"admin":true}}' }, 400, "bad_request"],
    ["text/plain", { body: good, headers: { "content-type": "text/plain" } }, 415, "unsupported_media_type"],
    [
      "a form",
      { body: good, headers: { "content-type": "application/x-www-form-urlencoded" } },
      415,
      "unsupported_media_type",
    ],
    [
      "a look-alike type",
      { body: good, headers: { "content-type": "application/jsonp" } },
      415,
      "unsupported_media_type",
    ],
    ["a malformed type", { body: good, headers: { "content-type": "json" } }, 415, "unsupported_media_type"],
    ["an empty type", { body: good, headers: { "content-type": "" } }, 415, "unsupported_media_type"],
    ["gzip", { body: good, headers: { "content-encoding": "gzip" } }, 415, "unsupported_media_type"],
    ["more than 64 KiB", { body: `{"text":"${"x".repeat(65_536)}"}` }, 413, "too_large"],
    ["16 MiB", { body: Buffer.alloc(16 * 1024 * 1024, 0x20) }, 413, "too_large"],
    [
      "chunks of more than 64 KiB",
      { body: Buffer.alloc(70_000, 0x20), headers: { "transfer-encoding": "chunked" } },
      413,
      "too_large",
    ],
  ];

  it.each(rows)("refuses %s and does not run the handler", async (_what, body, status, code, field) => {
    const calls = await startEcho();
    const answer = await post(body);
    expect(answer.status).toBe(status);
    expect(answer.json).toMatchObject({ type: "error", code, message: expect.any(String) });
    if (field !== undefined) expect(answer.json.field).toBe(field);
    expect(calls).toEqual([]);
    expect(app.logged).toEqual([]);
  });

  it.each(["application/json", "application/json; charset=utf-8", "Application/JSON;charset=UTF-8"])(
    "takes %s",
    async (type) => {
      const calls = await startEcho();
      const answer = await post({ body: '{"text":"é"}', headers: { "content-type": type } });
      expect(answer).toMatchObject({ status: 200, json: { text: "é" } });
      expect(answer.headers["content-type"]).toBe("application/json; charset=utf-8");
      expect(answer.headers["cache-control"]).toBe("no-store");
      expect(answer.headers["x-content-type-options"]).toBe("nosniff");
      expect(calls).toHaveLength(1);
    },
  );

  it("refuses a body without a Content-Type", async () => {
    await startEcho();
    const text = await rawRequest(
      app,
      'POST /api/echo HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 12\r\n\r\n{"text":"x"}',
    );
    expect(text).toMatch(/^HTTP\/1\.1 415 /);
    expect(text).toContain("unsupported_media_type");
  });

  it("answers 413 from Content-Length alone, before any of it has come", async () => {
    await startEcho();
    const socket = connect(app.port, "127.0.0.1");
    socket.write(
      "POST /api/echo HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 99999999999\r\n\r\n",
    );
    const [chunk] = await once(socket, "data");
    expect(String(chunk)).toMatch(/^HTTP\/1\.1 413 /);
    socket.destroy();
  });

  it("lets the connection go on after a refusal whose body was sent whole", async () => {
    await startEcho();
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    expect((await post({ body: Buffer.alloc(100_000, 0x20), agent })).status).toBe(413);
    expect((await post({ body: '{"text":"x"}', agent })).status).toBe(200);
    expect(app.sockets).toHaveLength(1);
    agent.destroy();
  });

  it("joins a body that comes byte by byte", async () => {
    await startEcho();
    const bytes = Buffer.from('{"text":"é and more"}');
    const outgoing = httpRequest(`${app.base}/api/echo`, {
      method: "POST",
      agent: false,
      headers: { "content-type": "application/json", "transfer-encoding": "chunked" },
    });
    for (const byte of bytes) outgoing.write(Buffer.from([byte]));
    outgoing.end();
    const [answer] = await once(outgoing, "response");
    expect(answer.statusCode).toBe(200);
    answer.resume();
  });

  const slow = { timing: { timeoutMs: 60, progressBytes: 1_000 } };
  async function startSlow(lease: ReturnType<typeof deviceLease> | null) {
    const scope = lease ? { needs: [] as const } : { needs: "public" as const };
    app = await startTestApp({ lease, routes: [echo([], { scope, maxBodyBytes: 1_000_000 })], app: slow });
    const socket = connect(app.port, "127.0.0.1");
    socket.on("error", () => undefined);
    socket.write(
      'POST /api/echo HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 600011\r\n\r\n{"text":"',
    );
    return socket;
  }

  it("slow body: an unauthenticated one is cut off after its time, however steadily it comes", async () => {
    const socket = await startSlow(null);
    const drip = setInterval(() => socket.write("x".repeat(2_000)), 10);
    const [chunk] = await once(socket, "data");
    clearInterval(drip);
    expect(String(chunk)).toMatch(/^HTTP\/1\.1 400 /);
    await new Promise((resolve) => socket.once("close", resolve));
  });

  it("slow body: an authenticated one that trickles is cut off", async () => {
    const socket = await startSlow(deviceLease());
    const drip = setInterval(() => socket.write("x"), 10);
    const [chunk] = await once(socket, "data");
    clearInterval(drip);
    expect(String(chunk)).toMatch(/^HTTP\/1\.1 400 /);
    socket.destroy();
  });

  it("answers overloaded when all bodies together hold too much, and takes new ones afterwards", async () => {
    app = await startTestApp({
      routes: [echo([])],
      app: { incoming: createHeldBytes({ maxBytes: 10_000, maxHolderBytes: 10_000 }) },
    });
    expect((await post({ body: `{"text":"${"x".repeat(20_000)}"}` })).json.code).toBe("overloaded");
    expect((await post({ body: '{"text":"x"}' })).status).toBe(200);
  });

  it("checks the lease again when the body is there: a device revoked meanwhile changes nothing", async () => {
    const lease = deviceLease();
    const calls = await startEcho({}, lease);
    const socket = connect(app.port, "127.0.0.1");
    socket.write(
      "POST /api/echo HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 12\r\n\r\n",
    );
    await expect.poll(() => app.socketOf(socket)?.bytesRead ?? 0).toBeGreaterThan(0);
    lease.end("revoked");
    socket.write('{"text":"x"}');
    const [chunk] = await once(socket, "data");
    expect(String(chunk)).toMatch(/^HTTP\/1\.1 401 /);
    expect(calls).toEqual([]);
    socket.destroy();
  });

  it("judges what depends on the body by the scopes held then", async () => {
    const scope = { needs: [], alsoNeeds: () => ["approve"] as const };
    const calls = await startEcho({ scope }, deviceLease(["view"]));
    expect((await post({ body: '{"text":"x"}' })).json).toMatchObject({ code: "scope_missing" });
    expect(calls).toEqual([]);
  });
});

describe("answers", () => {
  it("shows nothing of an unexpected fault, and logs it", async () => {
    const failing = echo([], {
      handle: () => {
        throw new Error("secret path");
      },
    });
    const rejecting = echo([], {
      path: "/api/reject",
      handle: () => Promise.reject(new Error("secret path")),
    });
    app = await startTestApp({ routes: [failing, rejecting] });
    for (const path of ["/api/echo", "/api/reject"]) {
      const answer = await post({ body: '{"text":"x"}', path });
      expect(answer.status).toBe(503);
      expect(answer.json.code).toBe("internal");
      expect(answer.text).not.toContain("secret");
    }
    expect(app.logged).toHaveLength(2);
  });

  it.each([
    ["GET", "/api/nothing"],
    ["HEAD", "/api/nothing"],
    ["PUT", "/api/echo"],
    ["OPTIONS", "/api/echo"],
    ["GET", "/api/echo"],
    ["GET", "/nothing.html"],
    ["POST", "/api/nothing"],
    ["GET", "/api/echo/%zz"],
    ["GET", `/api/jobs/${"x".repeat(500)}/output`],
    ["GET", "//"],
    ["GET", "/../../etc/passwd"],
    ["GET", "/%2e%2e/%2e%2e/etc/passwd"],
  ])("answers %s %s in the one error shape", async (method, path) => {
    await startEcho();
    const answer = await request(app.base, method, path);
    expect([400, 404]).toContain(answer.status);
    if (method === "HEAD") return;
    expect(answer.json).toEqual({
      type: "error",
      code: answer.status === 404 ? "not_found" : "bad_request",
      message: expect.any(String),
    });
    expect(answer.text).not.toContain(path);
  });

  it("answers 404 for an unknown path whatever its body is", async () => {
    await startEcho();
    for (const type of ["text/plain", "nonsense", "application/json"])
      expect(
        (await post({ body: "{", path: "/api/nothing", headers: { "content-type": type } })).status,
      ).toBe(404);
  });

  it("runs afterSent once the answer has left, also when the client does not wait for it", async () => {
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    let after = 0;
    const handle: Route["handle"] = async () => {
      await held;
      return {
        status: 204,
        afterSent: () => {
          after += 1;
        },
      };
    };
    const calls = await startEcho({ handle });
    const socket = connect(app.port, "127.0.0.1");
    socket.write(
      'POST /api/echo HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 12\r\n\r\n{"text":"x"}',
    );
    await expect.poll(() => app.socketOf(socket)?.bytesRead ?? 0).toBeGreaterThan(50);
    const left = app.socketOf(socket);
    socket.destroy();
    await expect.poll(() => left?.destroyed).toBe(true);
    release();
    await expect.poll(() => after).toBe(1);
    expect((await post({ body: '{"text":"x"}' })).status).toBe(204);
    await expect.poll(() => after).toBe(2);
    expect(calls).toEqual([]);
  });

  it("coerces the query by its schema, and refuses what is repeated or no such thing", async () => {
    const seen: unknown[] = [];
    const query = Type.Object({ n: Type.Optional(Type.Integer()), on: Type.Optional(Type.Boolean()) });
    const handle = (context: { query: unknown }) => {
      seen.push(context.query);
      return { status: 204 };
    };
    app = await startTestApp({
      routes: [route({ method: "GET", path: "/api/q", scope: { needs: [] }, query, handle })],
    });
    expect((await request(app.base, "GET", "/api/q?n=-7&on=true&token=x&__proto__=1")).status).toBe(204);
    expect(seen).toEqual([{ n: -7, on: true }]);
    for (const [search, status] of [
      ["n=1.5", 422],
      ["n=1e3", 422],
      ["n=", 422],
      ["n=99999999999999999999", 422],
      ["on=maybe", 422],
      ["n=1&n=2", 400],
    ] as const)
      expect((await request(app.base, "GET", `/api/q?${search}`)).status).toBe(status);
    expect(seen).toHaveLength(1);
  });

  it("bounds changes on one connection to a hundred a second and says when to come back", async () => {
    const calls: unknown[] = [];
    const second = 1_796_000_000_000;
    app = await startTestApp({ lease: deviceLease(), routes: [echo(calls)], app: { now: () => second } });
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const answers = await Promise.all(
      Array.from({ length: 250 }, () => post({ body: '{"text":"x"}', agent })),
    );
    const refused = answers.filter((answer) => answer.status === 429);
    expect(refused).toHaveLength(150);
    expect(refused[0]?.json).toMatchObject({ code: "rate_limited", retry_after: 1 });
    expect(refused[0]?.headers["retry-after"]).toBe("1");
    expect(calls).toHaveLength(100);
    expect((await post({ body: '{"text":"x"}' })).status).toBe(200);
    agent.destroy();
  });
});

describe("static files", () => {
  async function startPage() {
    const folder = await mkdtemp(join(tmpdir(), "sallyport-page-"));
    await writeFile(join(folder, "index.html"), "<!doctype html><title>Sallyport</title>");
    await mkdir(join(folder, "assets"));
    await writeFile(join(folder, "assets", "app-B4xK9z_1.js"), "export {};");
    await writeFile(join(folder, "manifest.webmanifest"), "{}");
    await writeFile(join(folder, ".secret"), "no");
    await symlink("/etc/hostname", join(folder, "link.txt"));
    const staticFiles = await loadStaticFiles(folder);
    await rm(folder, { recursive: true });
    app = await startTestApp({ lease: null, app: { staticFiles } });
    return staticFiles;
  }

  it("serves the page from memory with its types, and index.html at /", async () => {
    const files = await startPage();
    expect([...files.keys()].sort()).toEqual([
      "/",
      "/assets/app-B4xK9z_1.js",
      "/index.html",
      "/manifest.webmanifest",
    ]);
    const index = await request(app.base, "GET", "/");
    expect(index).toMatchObject({ status: 200, text: "<!doctype html><title>Sallyport</title>" });
    expect(index.headers).toMatchObject({
      "content-type": "text/html; charset=utf-8",
      "cache-control": "no-cache",
      "content-security-policy": expect.stringContaining("frame-ancestors 'none'"),
    });
    // Over plain http to another machine browsers ignore it and complain.
    expect(index.headers["cross-origin-opener-policy"]).toBeUndefined();
    const asset = await request(app.base, "GET", "/assets/app-B4xK9z_1.js?v=1");
    expect(asset.headers).toMatchObject({
      "content-type": "text/javascript; charset=utf-8",
      "cache-control": "public, max-age=31536000, immutable",
    });
    expect((await request(app.base, "GET", "/manifest.webmanifest")).headers["content-type"]).toMatch(
      /^application\/manifest/,
    );
  });

  it("sends what the build compressed to whoever takes it, as a representation of its own", async () => {
    const folder = await mkdtemp(join(tmpdir(), "sallyport-page-"));
    for (const [name, text] of [
      ["app.js", "whole"],
      ["app.js.br", "brotli"],
      ["app.js.gz", "gzip"],
      ["style.css", "whole"],
    ] as const)
      await writeFile(join(folder, name), text);
    const staticFiles = await loadStaticFiles(folder);
    await rm(folder, { recursive: true });
    expect([...staticFiles.keys()].sort()).toEqual(["/app.js", "/style.css"]);
    app = await startTestApp({ lease: null, app: { staticFiles } });
    const etags = new Set<unknown>();
    for (const [accepted, encoding, text] of [
      ["gzip, deflate, br", "br", "brotli"],
      ["gzip", "gzip", "gzip"],
      ["br;q=0, gzip;q=0.5", "gzip", "gzip"],
      ["identity", undefined, "whole"],
      ["*", undefined, "whole"],
    ] as const) {
      const headers = { "accept-encoding": accepted };
      const answer = await request(app.base, "GET", "/app.js", { headers });
      expect(answer).toMatchObject({ status: 200, text });
      expect(answer.headers["content-encoding"]).toBe(encoding);
      expect(answer.headers.vary).toBe("accept-encoding");
      etags.add(answer.headers.etag);
      const again = { headers: { ...headers, "if-none-match": String(answer.headers.etag) } };
      expect((await request(app.base, "GET", "/app.js", again)).status).toBe(304);
    }
    expect(etags.size).toBe(3);
    const plain = { headers: { "accept-encoding": "br" } };
    expect((await request(app.base, "GET", "/style.css", plain)).headers.vary).toBeUndefined();
  });

  it("answers HEAD without a body and 304 to a matching etag", async () => {
    await startPage();
    const head = await request(app.base, "HEAD", "/index.html");
    expect(head).toMatchObject({ status: 200, text: "" });
    expect(head.headers["content-length"]).toBe("39");
    for (const etag of [head.headers.etag, `W/${head.headers.etag}`, "*"])
      expect(
        await request(app.base, "GET", "/", { headers: { "if-none-match": `"x", ${etag}` } }),
      ).toMatchObject({
        status: 304,
        text: "",
      });
    expect((await request(app.base, "GET", "/", { headers: { "if-none-match": '"other"' } })).status).toBe(
      200,
    );
  });

  it.each([
    "/.secret",
    "/link.txt",
    "/assets",
    "/assets/",
    "/assets/../index.html",
    "/assets/%2e%2e/index.html",
    "/assets%2fapp-B4xK9z_1.js",
    "//index.html",
    "/index.html/",
    "/INDEX.HTML",
  ])("path traversal: %s is no file of the page", async (path) => {
    await startPage();
    expect((await request(app.base, "GET", path)).status).toBe(404);
  });

  it("takes an absent folder for an empty page", async () => {
    expect((await loadStaticFiles(join(tmpdir(), "sallyport-no-such-folder"))).size).toBe(0);
    app = await startTestApp();
    expect((await request(app.base, "GET", "/")).status).toBe(404);
  });
});
