import { mkdtemp, readFile, realpath, rm } from "node:fs/promises";
import { request as httpsRequest } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import WebSocket from "ws";
import { disposeDaemons, startTestDaemon, type TestDaemon } from "../helpers/daemon.ts";
import { requireProgram } from "../helpers/require-program.ts";
import type { Message } from "../helpers/socket.ts";
import { freePort, type SystemServer, startNginx } from "../helpers/system-servers.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const nginx = requireProgram("nginx");
const name = "sally.example";

describe.skipIf(nginx === null).each([
  ["keeps", ""],
  ["cuts off", "/"],
])("nginx with TLS in front of a door, where the proxy %s the base path", (_, upstreamPath) => {
  let folder: string;
  let daemon: TestDaemon;
  let web: SystemServer & { readonly certificate: string };
  let ca: string;

  beforeAll(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), "sallyport-proxy-")));
    const door = await freePort();
    web = await startNginx(nginx ?? "", join(folder, "web"), {
      name,
      location: upstreamPath === "" ? "/desk" : "/desk/",
      upstream: `http://127.0.0.1:${door}${upstreamPath}`,
    });
    ca = await readFile(web.certificate, "utf8");
    daemon = await startTestDaemon({
      cwd: folder,
      config: `trusted_proxies = ["127.0.0.1"]\n[[door]]\nlisten = ${door}\nurl = "https://${name}:${web.port}/desk"\n`,
    });
    await daemon.request("POST", "/api/remote", { body: { access: "tunnel" } });
  });
  afterAll(async () => {
    await daemon?.stop();
    await web?.stop();
    await disposeDaemons();
    await rm(folder, { recursive: true, force: true });
  });

  function ask(method: string, path: string, token: string | null, body?: object) {
    const text = body === undefined ? "" : JSON.stringify(body);
    return new Promise<{ status: number; text: string; json: Message }>((resolve, reject) => {
      const outgoing = httpsRequest({
        host: "127.0.0.1",
        port: web.port,
        servername: name,
        ca,
        method,
        path,
        agent: false,
        headers: {
          host: `${name}:${web.port}`,
          ...(token === null ? {} : { authorization: `Bearer ${token}` }),
          ...(text === ""
            ? {}
            : { "content-type": "application/json", "content-length": Buffer.byteLength(text) }),
        },
      });
      outgoing.on("error", reject);
      outgoing.on("response", async (response) => {
        let got = "";
        for await (const chunk of response) got += chunk;
        resolve({
          status: response.statusCode ?? 0,
          text: got,
          json: got.startsWith("{") ? JSON.parse(got) : null,
        });
      });
      outgoing.end(text);
    });
  }

  it("serves page, pairing and socket below it, with links that carry scheme, name and path", async () => {
    const page = await ask("GET", "/desk/", null);
    expect([page.status, page.text.startsWith("<!doctype html>")]).toEqual([200, true]);
    const { json } = await daemon.request("POST", "/api/pair/codes", { body: {} });
    expect(json.offers[0].link).toBe(`https://${name}:${web.port}/desk/#pair=${json.code}`);
    const paired = await ask("POST", "/desk/api/pair", null, {
      code: json.code,
      name: "Phone",
      kind: "phone",
    });
    expect(paired.status).toBe(200);
    const { token } = paired.json;
    const options = {
      ca,
      servername: name,
      headers: { host: `${name}:${web.port}`, authorization: `Bearer ${token}` },
    };
    const ws = new WebSocket(`wss://127.0.0.1:${web.port}/desk/api/ws`, options);
    const first = await new Promise<Message>((resolve, reject) => {
      ws.once("message", (data) => resolve(JSON.parse(String(data))));
      ws.once("error", reject);
    });
    expect(first.type).toBe("snapshot");
    ws.terminate();
  });

  it("takes no master token through it", async () => {
    expect((await ask("GET", "/desk/api/daemon", daemon.token)).status).toBe(401);
  });
});
