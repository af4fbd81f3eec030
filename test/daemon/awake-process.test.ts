import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { readProcessIdentity } from "../../src/lib/process-identity.ts";
import { disposeDaemons, startTestDaemon, type TestDaemon, temporaryHome } from "../helpers/daemon.ts";
import { openSocket } from "../helpers/socket.ts";

afterEach(disposeDaemons);

/** As the real tools: notes its pid, takes its options off, runs the rest. */
const holdingTool = (folder: string) => `#!/bin/sh
echo $$ >> ${folder}/pids
while case "$1" in -*) true;; *) false;; esac; do shift; done
exec "$@"
`;

/** A daemon with a made-up inhibitor in front of its PATH. */
async function start(script: (folder: string) => string) {
  const home = await temporaryHome();
  const folder = join(await temporaryHome(), "bin");
  await mkdir(folder);
  for (const name of ["systemd-inhibit", "caffeinate"]) {
    await writeFile(join(folder, name), script(folder));
    await chmod(join(folder, name), 0o755);
  }
  const daemon = await startTestDaemon({ home, env: { PATH: `${folder}:${process.env.PATH}` } });
  const pids = async (): Promise<number[]> =>
    (await readFile(join(folder, "pids"), "utf8")).trim().split("\n").map(Number);
  return { daemon, pids };
}

const keepAwake = async (daemon: TestDaemon, mode: string) =>
  (await daemon.request("POST", "/api/command", { body: { type: "keep_awake", mode } })).json;

const isGone = (pid: number) =>
  vi.waitFor(async () => expect(await readProcessIdentity(pid)).toBeNull(), 60_000);

describe("keep_awake", () => {
  it("always: replies, broadcasts and shows everywhere that it holds, until it is off", async () => {
    const { daemon, pids } = await start(holdingTool);
    const socket = await openSocket(daemon.url, { token: daemon.token });
    expect(socket.messages[0].awake).toEqual({ mode: "off", active: false, available: true });
    const reply = await socket.command({ type: "keep_awake", mode: "always" });
    expect(reply).toEqual({
      type: "awake",
      mode: "always",
      active: true,
      available: true,
      client_ref: reply.client_ref,
    });
    const order = socket.messages.filter(({ type }) => type === "awake").map(({ rev }) => typeof rev);
    expect(order).toEqual(["number", "number", "undefined"]);
    const shown = { mode: "always", active: true, available: true };
    expect((await daemon.request("GET", "/api/daemon")).json.awake).toEqual(shown);
    expect((await daemon.request("GET", "/api/snapshot")).json.awake).toEqual(shown);
    const [pid = 0] = await pids();
    expect(await readProcessIdentity(pid)).not.toBeNull();
    expect(await keepAwake(daemon, "off")).toEqual({
      type: "awake",
      mode: "off",
      active: false,
      available: true,
    });
    await isGone(pid);
  });

  it("busy: holds while a job runs", async () => {
    const { daemon } = await start(holdingTool);
    const socket = await openSocket(daemon.url, { token: daemon.token });
    expect(await keepAwake(daemon, "busy")).toMatchObject({ mode: "busy", active: false });
    const { job } = await socket.command({ type: "job_start", command: "sleep 60" });
    await socket.waitFor(({ type, active }) => type === "awake" && active === true);
    await socket.command({ type: "job_kill", job: job.id });
    const last = () => socket.messages.filter(({ type }) => type === "awake").at(-1);
    await socket.waitFor(() => last()?.active === false);
    expect(last()).toMatchObject({ type: "awake", mode: "busy", active: false, available: true });
  });

  it("ends with the daemon, by kill -9 as by SIGTERM, and is off after the next start", async () => {
    const { daemon, pids } = await start(holdingTool);
    await keepAwake(daemon, "always");
    await daemon.kill9();
    await isGone((await pids())[0] ?? 0);
    const next = await startTestDaemon({ home: daemon.home });
    expect((await next.request("GET", "/api/daemon")).json.awake).toMatchObject({
      mode: "off",
      active: false,
    });
    const other = await start(holdingTool);
    await keepAwake(other.daemon, "always");
    expect(await other.daemon.stop()).toBe(0);
    await isGone((await other.pids())[0] ?? 0);
  });

  it("with a tool that the system refuses says so in the reply, and the daemon goes on", async () => {
    const { daemon } = await start(() => "#!/bin/sh\necho 'Access denied' >&2\nexit 1\n");
    expect(await keepAwake(daemon, "always")).toEqual({
      type: "awake",
      mode: "always",
      active: false,
      available: false,
      message: expect.stringContaining("Access denied"),
    });
    expect((await daemon.request("GET", "/api/daemon")).status).toBe(200);
  });

  it("without a mode, or with another one, is refused and names the field", async () => {
    const { daemon } = await start(holdingTool);
    for (const fields of [{}, { mode: "on" }, { mode: null }, { mode: ["busy"] }]) {
      const { status, json } = await daemon.request("POST", "/api/command", {
        body: { type: "keep_awake", ...fields },
      });
      expect([status, json.code, json.field]).toEqual([422, "invalid_field", "mode"]);
    }
  });
});

describe("control_permissions", () => {
  it("says that there is nothing to control", async () => {
    const daemon = await startTestDaemon();
    const ask = (fields: object) =>
      daemon.request("POST", "/api/command", { body: { type: "control_permissions", ...fields } });
    const nothing = { type: "control", available: false, permissions: [] };
    expect((await ask({})).json).toEqual(nothing);
    expect((await ask({ request: true })).json).toEqual(nothing);
    expect((await ask({ request: "yes" })).json).toMatchObject({ code: "invalid_field", field: "request" });
  });
});

it("a device that may only look changes neither, and may ask what there is to control", async () => {
  const { daemon } = await start(holdingTool);
  const { json: minted } = await daemon.request("POST", "/api/pair/codes", { body: { scopes: ["view"] } });
  const { json: paired } = await daemon.request("POST", "/api/pair", {
    token: null,
    body: { code: minted.code, name: "wall" },
  });
  const send = async (body: object) =>
    (await daemon.request("POST", "/api/command", { token: paired.token, body })).json;
  expect(await send({ type: "keep_awake", mode: "always" })).toMatchObject({ code: "scope_missing" });
  expect(await send({ type: "control_permissions", request: true })).toMatchObject({
    code: "scope_missing",
  });
  expect(await send({ type: "control_permissions" })).toMatchObject({ type: "control" });
  expect((await daemon.request("GET", "/api/daemon")).json.awake.mode).toBe("off");
});
