import { mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { request as httpsRequest } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import WebSocket from "ws";
import {
  disposeDaemons,
  runProgram,
  startTestDaemon,
  type TestDaemon,
  temporaryHome,
} from "../helpers/daemon.ts";
import { freePort } from "../helpers/free-port.ts";
import { requireProgram } from "../helpers/require-program.ts";
import type { Message } from "../helpers/socket.ts";
import { type SystemServer, startNginx, startSshServer } from "../helpers/system-servers.ts";

const [sshd, nginx] = [requireProgram("sshd"), requireProgram("nginx")];
const name = "sally.example";

/** The way of a phone far away: TLS to nginx, from there by `ssh -R` to the door. */
describe.skipIf(sshd === null || nginx === null)("a tunnel by ssh -R, with nginx and TLS in front", () => {
  let folder: string;
  let home: string;
  let daemon: TestDaemon;
  let web: SystemServer & { readonly certificate: string };
  let server: Awaited<ReturnType<typeof startSshServer>>;
  let remotePort: number;
  let ca: string;
  let phone: string;

  const order = () => ({
    provider: "ssh",
    host: `${server.files.user}@127.0.0.1`,
    port: server.port,
    remote_port: remotePort,
    url: `https://${name}`,
  });
  const tunnel = async () => (await daemon.request("GET", "/api/remote")).json.tunnel;
  const isUp = () =>
    vi.waitFor(async () => expect(await tunnel()).toMatchObject({ state: "up" }), {
      timeout: 60_000,
      interval: 100,
    });

  /** A request as a phone makes it: to nginx's address, with the public name in TLS and Host. */
  function fromOutside(
    method: string,
    path: string,
    options: { token?: string; body?: unknown; host?: string } = {},
  ): Promise<{ status: number; json: Message }> {
    const body = options.body === undefined ? "" : JSON.stringify(options.body);
    return new Promise((resolve, reject) => {
      const outgoing = httpsRequest({
        host: "127.0.0.1",
        port: web.port,
        servername: name,
        ca,
        method,
        path,
        agent: false,
        headers: {
          host: options.host ?? name,
          ...(options.token ? { authorization: `Bearer ${options.token}` } : {}),
          ...(body === ""
            ? {}
            : { "content-type": "application/json", "content-length": Buffer.byteLength(body) }),
        },
      });
      outgoing.on("error", reject);
      outgoing.on("response", async (response) => {
        let text = "";
        for await (const chunk of response) text += chunk;
        resolve({ status: response.statusCode ?? 0, json: text.startsWith("{") ? JSON.parse(text) : null });
      });
      outgoing.end(body);
    });
  }

  beforeAll(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), "sallyport-ssh-")));
    home = await temporaryHome();
    remotePort = await freePort();
    server = await startSshServer(sshd ?? "", folder);
    web = await startNginx(nginx ?? "", join(folder, "web"), {
      name,
      upstream: `http://127.0.0.1:${remotePort}`,
    });
    ca = await readFile(web.certificate, "utf8");
    daemon = await startTestDaemon({
      home,
      cwd: folder,
      config: `[tunnel]
probe_address = "127.0.0.1:${web.port}"
probe_ca = "${web.certificate}"
[tunnel.ssh]
identity_file = "${server.files.identity}"
known_hosts = "${server.files.knownHosts}"
`,
    });
  });
  afterAll(async () => {
    await daemon?.request("DELETE", "/api/tunnel").catch(() => undefined);
    await daemon?.stop();
    await web?.stop();
    await server?.stop();
    await disposeDaemons();
    await rm(folder, { recursive: true, force: true });
  });

  it("is on its way at once, opens the exposure for doors only, and is up when its own probe came through", async () => {
    const started = await daemon.request("POST", "/api/tunnel", { body: order() });
    expect(started.status).toBe(202);
    expect(started.json).toMatchObject({ access: "tunnel", tunnel: { provider: "ssh", state: "starting" } });
    await isUp();
    const { json } = await daemon.request("GET", "/api/remote");
    expect(json.tunnel.url).toBe(`https://${name}`);
    expect(json.addresses).toEqual([{ kind: "tunnel", address: `https://${name}` }]);
    expect(json.bound.every((bound: string) => /^(127\.0\.0\.1|\[::1\]):/.test(bound))).toBe(true);
  });

  it("pairs a phone through both, by the link that leads with the tunnel's address", async () => {
    const code = await daemon.request("POST", "/api/pair/codes", { body: {} });
    expect(code.json.offers[0]).toMatchObject({
      kind: "tunnel",
      link: `https://${name}/#pair=${code.json.code}`,
    });
    const paired = await fromOutside("POST", "/api/pair", {
      body: { code: code.json.code, name: "Phone", kind: "phone" },
    });
    expect(paired.status).toBe(200);
    phone = paired.json.token;
  });

  it("lets nobody who comes through pass for a local caller", async () => {
    expect((await fromOutside("GET", "/api/daemon", { token: daemon.token })).status).toBe(401);
    expect((await fromOutside("GET", "/api/daemon", { token: daemon.token, host: "localhost" })).status).toBe(
      403,
    );
    const proof = await fromOutside("GET", "/api/hello?challenge=0123456789abcdef0123");
    expect(proof.json.proof).toBeUndefined();
  });

  it("drives a job from the phone over a WebSocket through both", async () => {
    const options = { ca, servername: name, headers: { host: name, authorization: `Bearer ${phone}` } };
    const ws = new WebSocket(`wss://127.0.0.1:${web.port}/api/ws`, options);
    const messages: Message[] = [];
    ws.on("message", (data) => messages.push(JSON.parse(String(data))));
    const got = (fits: (message: Message) => boolean) =>
      vi.waitFor(() => messages.find(fits) ?? expect.fail("not yet"), { timeout: 60_000 });
    await got(({ type }) => type === "snapshot");
    ws.send(JSON.stringify({ type: "job_start", command: "echo through the tunnel", client_ref: "j" }));
    const { job } = await got(({ client_ref }) => client_ref === "j");
    await vi.waitFor(
      async () => {
        const output = await fromOutside("GET", `/api/jobs/${job.id}/output`, { token: phone });
        expect(output.json).toMatchObject({ output: "through the tunnel\n", done: true });
      },
      { timeout: 60_000 },
    );
    ws.terminate();
  });

  it("the same order again changes nothing; a wrong one is refused and changes nothing", async () => {
    expect((await daemon.request("POST", "/api/tunnel", { body: order() })).json.tunnel.state).toBe("up");
    const wrong = await daemon.request("POST", "/api/tunnel", {
      body: { ...order(), host: "-oProxyCommand=x" },
    });
    expect([wrong.status, wrong.json.field]).toEqual([422, "host"]);
    expect((await tunnel()).state).toBe("up");
  });

  it("says by the command line how it is", async () => {
    const status = await runProgram(["tunnel", "status", "--json", "--home", home]);
    expect(JSON.parse(status.stdout)).toMatchObject({ tunnel: { provider: "ssh", state: "up" } });
  });

  it("kill -9 of the daemon: the tool ends by itself, and the next daemon dials anew with the same door", async () => {
    await daemon.kill9();
    daemon = await startTestDaemon({ home, cwd: folder });
    await isUp();
    expect((await fromOutside("GET", "/api/daemon", { token: phone })).status).toBe(200);
  });

  it("ends by DELETE: nobody comes through, and the exposure is off again", async () => {
    const ended = await daemon.request("DELETE", "/api/tunnel");
    expect(ended.json).toMatchObject({
      access: "off",
      tunnel: { state: "off", provider: null },
      addresses: [],
    });
    await vi.waitFor(async () => expect((await fromOutside("GET", "/api/hello")).status).toBe(502), {
      timeout: 60_000,
    });
  });

  it("leaves an exposure alone that it did not switch on; remote off ends it", async () => {
    await daemon.request("POST", "/api/remote", { body: { access: "tunnel" } });
    await daemon.request("POST", "/api/tunnel", { body: order() });
    await isUp();
    expect((await daemon.request("DELETE", "/api/tunnel")).json.access).toBe("tunnel");
    await daemon.request("POST", "/api/tunnel", { body: order() });
    await isUp();
    expect((await daemon.request("POST", "/api/remote", { body: { access: "off" } })).json).toMatchObject({
      access: "off",
      tunnel: { state: "off" },
    });
  });

  it.each([
    ["lets us in", () => server.files.identity, "ok", "lets us in"],
    ["knows none of our keys", () => join(folder, "host_key"), "warn", "none of the keys"],
  ])(
    "doctor logs in to a server of the configuration that %s, and says so",
    async (_, identity, state, says) => {
      const other = await temporaryHome();
      const lines = [
        "[tunnel.ssh]",
        `host = "${server.files.user}@127.0.0.1"`,
        `port = ${server.port}`,
        `identity_file = "${identity()}"`,
        `known_hosts = "${server.files.knownHosts}"`,
      ];
      await writeFile(join(other, "config.toml"), lines.join("\n"), { mode: 0o600 });
      const { stdout } = await runProgram(["doctor", "--json", "--home", other]);
      expect(JSON.parse(stdout).checks).toContainEqual(
        expect.objectContaining({ check: "tunnel", state, message: expect.stringContaining(says) }),
      );
    },
  );

  it("with a server whose key is not known does not connect, and says what to do", async () => {
    await daemon.request("POST", "/api/tunnel", {
      body: { ...order(), host: `${server.files.user}@localhost` },
    });
    await vi.waitFor(async () => expect((await tunnel()).state).toBe("failed"), { timeout: 60_000 });
    expect(await tunnel()).toMatchObject({ reason: expect.stringContaining("host key"), next_try: null });
    await vi.waitFor(
      async () => expect((await daemon.request("GET", "/api/remote")).json.access).toBe("off"),
      { timeout: 60_000 },
    );
  });
});
