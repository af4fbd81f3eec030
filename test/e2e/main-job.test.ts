import { mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  disposeDaemons,
  runProgram,
  startTestDaemon,
  type TestDaemon,
  temporaryHome,
} from "../helpers/daemon.ts";
import { type Forwarder, startForwarder } from "../helpers/forwarder.ts";
import { freePort } from "../helpers/free-port.ts";
import { request } from "../helpers/http.ts";
import { openSocket, type TestSocket } from "../helpers/socket.ts";

const publicHost = "sally.example";
const publicUrl = `https://${publicHost}`;

/**
 * The main job of the product, played in order with real processes and sockets: a second client comes through a plain TCP
 * forwarder at a door, pairs, drives a job, survives a kill -9 of the daemon, and is thrown out.
 */
describe("the main job", () => {
  let home: string;
  let folder: string;
  let config: string;
  let daemon: TestDaemon;
  let forwarder: Forwarder;
  let code: string;
  let phone: { readonly token: string; readonly device: { readonly id: string } };
  let jobId: string;
  let shellAgent: string;

  const throughDoor = (
    method: string,
    path: string,
    options: { token?: string | null; body?: unknown; host?: string } = {},
  ) =>
    request(`http://127.0.0.1:${forwarder.port}`, method, path, {
      token: options.token ?? null,
      ...(options.body === undefined ? {} : { body: options.body }),
      headers: { host: options.host ?? publicHost },
    });
  const phoneSocket = (token: string, query = ""): Promise<TestSocket> =>
    openSocket(`http://127.0.0.1:${forwarder.port}`, { token, query, headers: { host: publicHost } });

  beforeAll(async () => {
    home = await temporaryHome();
    folder = await realpath(await mkdtemp(join(tmpdir(), "sallyport-main-job-")));
    await writeFile(join(folder, "hello.txt"), "hello from the desk\n");
    const doorPort = await freePort();
    config = `[[door]]\nlisten = ${doorPort}\nurl = "${publicUrl}"\n`;
    daemon = await startTestDaemon({ home, config, cwd: folder, args: ["--remote", "--host", "127.0.0.1"] });
    forwarder = await startForwarder({ port: doorPort });
  });

  afterAll(async () => {
    await forwarder.close();
    await disposeDaemons();
    await rm(folder, { recursive: true, force: true });
  });

  it("mints a code by the command line, with a link that leads through the door", async () => {
    const run = await runProgram(["pair", "--json", "--home", home]);
    expect(run.code).toBe(0);
    const answer = JSON.parse(run.stdout);
    code = answer.code;
    expect(code).toMatch(/^[0-9A-HJKMNP-TV-Z]{5}-[0-9A-HJKMNP-TV-Z]{5}$/);
    expect(answer.offers[0]).toMatchObject({ kind: "tunnel", link: `${publicUrl}/#pair=${code}` });
  });

  it("refuses the right master token that comes through the forwarder as Host: localhost", async () => {
    const local = await throughDoor("GET", "/api/daemon", { token: daemon.token, host: "localhost" });
    expect(local.status).toBe(403);
    const named = await throughDoor("GET", "/api/daemon", { token: daemon.token });
    expect([named.status, named.json.code]).toEqual([401, "unauthorized"]);
  });

  it("pairs a second client by three calls, and the code works once", async () => {
    const hello = await throughDoor("GET", "/api/hello?challenge=0123456789abcdef0123");
    expect(hello.json).toMatchObject({ app: "sallyport", remote: true, pairing: true });
    expect(hello.json.proof).toBeUndefined();
    const paired = await throughDoor("POST", "/api/pair", {
      body: { code: code.toLowerCase().replace("-", " "), name: "Pixel phone", kind: "phone" },
    });
    expect(paired.status).toBe(200);
    phone = paired.json;
    const again = await throughDoor("POST", "/api/pair", { body: { code, name: "thief", kind: "phone" } });
    expect([again.status, again.json.code]).toEqual([403, "pairing_refused"]);
  });

  it("shows a permission request to both clients, one allows, and both see output and end", async () => {
    const desk = await openSocket(daemon.url, { token: daemon.token });
    const remote = await phoneSocket(phone.token);
    const ack = await remote.command({ type: "prompt", text: "cat hello.txt", request_id: "k1" });
    expect(ack).toMatchObject({ type: "ack", status: "accepted", request_id: "k1" });
    shellAgent = ack.agent;
    const asked = (message: { type: string; event?: { type: string } }) =>
      message.type === "event" && message.event?.type === "permission_requested";
    const [onDesk, onPhone] = await Promise.all([desk.waitFor(asked), remote.waitFor(asked)]);
    expect(onDesk.event.request_id).toBe(onPhone.event.request_id);
    expect(onPhone.event.input).toEqual({ command: "cat hello.txt" });
    const answer = await remote.command({
      type: "approve",
      request_id: onPhone.event.request_id,
      decision: "allow",
      digest: onPhone.event.digest,
    });
    expect(answer.type).toBe("ack");
    const late = await desk.command({
      type: "approve",
      request_id: onDesk.event.request_id,
      decision: "deny",
    });
    expect(late).toMatchObject({ type: "error", code: "conflict" });
    for (const client of [desk, remote]) {
      const finished = await client.waitFor(
        (message) => message.type === "event" && message.event.type === "tool_finished",
      );
      expect(finished.event).toMatchObject({
        exit_code: 0,
        is_error: false,
        output: "hello from the desk\n",
      });
      const over = await client.waitFor(
        (message) => message.type === "event" && message.event.type === "turn_finished",
      );
      expect(over.event.outcome).toBe("done");
    }
    const resent = await remote.command({ type: "prompt", text: "cat hello.txt", request_id: "k1" });
    expect(resent).toMatchObject({ type: "ack", turn: ack.turn });
    await Promise.all([desk.close(), remote.close()]);
  });

  it("starts a job from the phone and reads it by offset", async () => {
    const remote = await phoneSocket(phone.token);
    const tab = remote.messages[0].workspace.active_tab;
    const command = "echo one; while [ ! -e go ]; do sleep 0.05; done; echo two; exit 7";
    const started = await remote.command({ type: "job_start", tab, command });
    expect(started).toMatchObject({ type: "job_started", job: { state: "running", command } });
    jobId = started.job.id;
    await remote.command({ type: "job_follow", job: jobId, on: true });
    await remote.waitFor((message) => message.type === "job_more" && message.size >= 4);
    const chunk = await remote.command({ type: "job_output", job: jobId, offset: 0 });
    expect(chunk).toMatchObject({ output: "one\n", next_offset: 4, done: false });
    await remote.close();
  });

  it("survives a kill -9 of the daemon: the job goes on, and its end is known", async () => {
    await daemon.kill9();
    // The end comes while no daemon runs.
    await writeFile(join(folder, "go"), "");
    const exitFile = join(home, "jobs", `${jobId}.exit`);
    await expect.poll(() => readFile(exitFile, "utf8").catch(() => null), { timeout: 60_000 }).toMatch(/^7/);
    daemon = await startTestDaemon({ home, config, cwd: folder });
    const jobs = await daemon.request("GET", "/api/jobs");
    expect(jobs.json.jobs).toEqual([
      expect.objectContaining({ id: jobId, state: "exited", exit_code: 7, bytes: 8 }),
    ]);
    const output = await throughDoor("GET", `/api/jobs/${jobId}/output?offset=4`, { token: phone.token });
    expect(output.json).toMatchObject({ output: "two\n", next_offset: 8, done: true, incomplete: false });
  });

  it("remembers exposure, receipts and transcripts over the kill", async () => {
    const remote = await daemon.request("GET", "/api/remote");
    expect(remote.json.access).toBe("on");
    const socket = await phoneSocket(phone.token);
    const receipt = await socket.command({ type: "receipt", request_id: "k1" });
    expect(receipt).toMatchObject({ type: "receipt", status: "accepted", agent: shellAgent });
    await socket.close();
    const session = await daemon.request("GET", `/api/sessions/${shellAgent}`);
    expect(session.json.records.map((record: { type: string }) => record.type)).toEqual([
      "agent_started",
      "turn_started",
      "user_message",
      "tool_started",
      "permission_requested",
      "permission_resolved",
      "tool_finished",
      "turn_finished",
    ]);
  });

  it("throws the device out at its revocation, while a job lives on", async () => {
    const socket = await phoneSocket(phone.token);
    const started = await socket.command({ type: "job_start", command: "sleep 60" });
    const run = await runProgram(["devices", "revoke", phone.device.id, "--json", "--home", home]);
    expect(run.code).toBe(0);
    const closed = await socket.closed;
    expect(closed.code).toBe(4401);
    const after = await throughDoor("GET", "/api/daemon", { token: phone.token });
    expect([after.status, after.json.code]).toEqual([401, "unauthorized"]);
    await expect(phoneSocket(phone.token)).rejects.toThrow("401");
    const jobs = await daemon.request("GET", "/api/jobs");
    const job = jobs.json.jobs.find((row: { id: string }) => row.id === started.job.id);
    expect(job).toMatchObject({ state: "running" });
    const killed = await daemon.request("POST", "/api/command", { body: { type: "job_kill", job: job.id } });
    expect(killed.status).toBe(200);
  });
});
