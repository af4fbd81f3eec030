import { mkdtemp, readFile, realpath, rm } from "node:fs/promises";
import { request as httpsRequest } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import WebSocket from "ws";
import { disposeDaemons, startTestDaemon, type TestDaemon } from "../helpers/daemon.ts";
import { freePort } from "../helpers/free-port.ts";
import { requireProgram } from "../helpers/require-program.ts";
import type { Message } from "../helpers/socket.ts";
import { documented, type SystemServer, startCaddy, startNginx } from "../helpers/system-servers.ts";

const [nginx, caddy] = [requireProgram("nginx"), requireProgram("caddy")];
const name = "sally.example";
/** Another address of this machine than the proxy's, for a client: on Linux all of 127.0.0.0/8 is. */
const farAddress = process.platform === "linux" ? "127.0.0.2" : "127.0.0.1";

type WebServer = SystemServer & { readonly certificate: string };

const underNginx = (location: string, path: string) => (folder: string, door: number) =>
  startNginx(nginx ?? "", folder, { name, location, upstream: `http://127.0.0.1:${door}${path}` });
const underCaddy = (directive: string) => (folder: string, door: number) =>
  startCaddy(caddy ?? "", folder, {
    name,
    directives: `${directive} {\n reverse_proxy 127.0.0.1:${door}\n}`,
  });

const proxies: readonly (readonly [
  string,
  string | null,
  (folder: string, door: number) => Promise<WebServer>,
])[] = [
  ["nginx, which keeps the base path", nginx, underNginx("/desk", "")],
  ["nginx, which cuts off the base path", nginx, underNginx("/desk/", "/")],
  ["Caddy, which keeps the base path", caddy, underCaddy("handle /desk*")],
  ["Caddy, which cuts off the base path", caddy, underCaddy("handle_path /desk*")],
];

describe.each(proxies)("a proxy with TLS in front of a door: %s", (_, program, start) => {
  let folder: string;
  let daemon: TestDaemon;
  let web: WebServer;
  let ca: string;

  beforeAll(async () => {
    if (program === null) return;
    folder = await realpath(await mkdtemp(join(tmpdir(), "sallyport-proxy-")));
    const door = await freePort();
    web = await start(join(folder, "web"), door);
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
    if (folder) await rm(folder, { recursive: true, force: true });
  });

  interface Asked {
    readonly token?: string;
    readonly body?: object;
    readonly from?: string;
    readonly headers?: Readonly<Record<string, string>>;
  }
  function ask(method: string, path: string, { token, body, from = "127.0.0.1", headers = {} }: Asked = {}) {
    const text = body === undefined ? "" : JSON.stringify(body);
    return new Promise<{ status: number; headers: Message; text: string; json: Message }>(
      (resolve, reject) => {
        const outgoing = httpsRequest({
          host: "127.0.0.1",
          port: web.port,
          localAddress: from,
          servername: name,
          ca,
          method,
          path,
          agent: false,
          headers: {
            host: `${name}:${web.port}`,
            ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
            ...(text === ""
              ? {}
              : { "content-type": "application/json", "content-length": Buffer.byteLength(text) }),
            ...headers,
          },
        });
        outgoing.on("error", reject);
        outgoing.on("response", async (response) => {
          let got = "";
          for await (const chunk of response) got += chunk;
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            text: got,
            json: got.startsWith("{") ? JSON.parse(got) : null,
          });
        });
        outgoing.end(text);
      },
    );
  }

  it.skipIf(program === null)(
    "serves page, pairing and socket below it, with links that carry scheme, name and path",
    async () => {
      const page = await ask("GET", "/desk/");
      expect([page.status, page.text.startsWith("<!doctype html>")]).toEqual([200, true]);
      const { json } = await daemon.request("POST", "/api/pair/codes", { body: {} });
      expect(json.offers[0].link).toBe(`https://${name}:${web.port}/desk/#pair=${json.code}`);
      const paired = await ask("POST", "/desk/api/pair", {
        body: { code: json.code, name: "Phone", kind: "phone" },
        headers: { origin: `https://${name}:${web.port}` },
      });
      expect(paired.status).toBe(200);
      const { token } = paired.json;
      const options = {
        ca,
        servername: name,
        headers: { host: `${name}:${web.port}`, authorization: `Bearer ${token}` },
        origin: `https://${name}:${web.port}`,
      };
      const ws = new WebSocket(`wss://127.0.0.1:${web.port}/desk/api/ws`, options);
      const messages: Message[] = [];
      ws.on("message", (data) => messages.push(JSON.parse(String(data))));
      ws.on("error", () => undefined);
      const got = (fits: (message: Message) => boolean) =>
        vi.waitFor(() => messages.find(fits) ?? expect.fail("not yet"), { timeout: 60_000 });
      await got(({ type }) => type === "snapshot");
      ws.send(JSON.stringify({ type: "job_start", command: "echo behind a proxy", client_ref: "j" }));
      const { job } = await got(({ client_ref }) => client_ref === "j");
      await vi.waitFor(
        async () => {
          const output = await ask("GET", `/desk/api/jobs/${job.id}/output`, { token });
          expect(output.json).toMatchObject({ output: "behind a proxy\n", done: true });
        },
        { timeout: 60_000 },
      );
      ws.terminate();
    },
  );

  it.skipIf(program === null)("takes no master token through it, and proves nothing to it", async () => {
    expect((await ask("GET", "/desk/api/daemon", { token: daemon.token })).status).toBe(401);
    const hello = await ask("GET", "/desk/api/hello?challenge=0123456789abcdef0123");
    expect([hello.status, hello.json.proof]).toEqual([200, undefined]);
  });

  it.skipIf(program === null)("refuses a page of another scheme or name than the door's", async () => {
    for (const origin of [`http://${name}:${web.port}`, "https://evil.example", `https://${name}`])
      expect((await ask("GET", "/desk/api/hello", { headers: { origin } })).json?.code).toBe(
        "origin_refused",
      );
  });

  it.skipIf(program === null || farAddress === "127.0.0.1")(
    "counts failures by the client's address that the proxy tells, whatever the client says it is",
    async () => {
      const fails = (headers = {}) =>
        ask("GET", "/desk/api/daemon", { token: "wrong", from: farAddress, headers });
      let answer = await fails();
      for (let tries = 0; tries < 25 && answer.status === 401; tries++) answer = await fails();
      expect([answer.status, answer.json.code]).toEqual([429, "rate_limited"]);
      expect(Number(answer.headers["retry-after"])).toBeGreaterThan(0);
      // Forged: the proxy's own word comes last, and counts.
      expect((await fails({ "x-forwarded-for": "203.0.113.9" })).status).toBe(429);
      expect((await ask("GET", "/desk/api/daemon", { token: "wrong" })).status).toBe(401);
    },
  );
});

describe("docs/remote-access.md", () => {
  it("shows the directives for nginx that these tests use", async () => {
    const page = await readFile(new URL("../../docs/remote-access.md", import.meta.url), "utf8");
    for (const line of documented.split("\n")) expect(page).toContain(line.trim());
  });
});
