import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { changeBodies } from "../../src/protocol/changes.ts";
import { commandSchemas } from "../../src/protocol/commands.ts";
import { agentEventBodies } from "../../src/protocol/events.ts";
import { disposeDaemons, startTestDaemon, type TestDaemon, temporaryHome } from "../helpers/daemon.ts";
import { request } from "../helpers/http.ts";
import { judgePushed, problemWithReply } from "../helpers/protocol-schemas.ts";
import { type Message, openSocket, type TestSocket } from "../helpers/socket.ts";

const replay = (name: string) =>
  fileURLToPath(new URL(`../../examples/replay/${name}.jsonl`, import.meta.url));
const config = `[replay.features]\nscript = ${JSON.stringify(replay("features"))}\n
[replay.tour]\nscript = ${JSON.stringify(replay("tour"))}\n`;

/** A person at a desk who uses all of the protocol once; everything that the daemon says is held against the schemas. */
describe("the messages of a real daemon", () => {
  let home: string;
  let folder: string;
  let daemon: TestDaemon;
  let desk: TestSocket;
  const commands = new Map<string, string>();
  const problems: string[] = [];
  const kinds = new Set<string>();
  const answered = new Set<string>();

  beforeAll(async () => {
    home = await temporaryHome();
    folder = await realpath(await mkdtemp(join(tmpdir(), "sallyport-messages-")));
    await mkdir(join(folder, "second"));
    daemon = await startTestDaemon({ home, cwd: folder, config });
    desk = await openSocket(daemon.url, { token: daemon.token });
    desk.messages.forEach(look);
    desk.ws.on("message", (data) => {
      const message = JSON.parse(data.toString());
      look(message);
      answer(message);
    });
  });
  afterAll(async () => {
    await disposeDaemons();
    await rm(folder, { recursive: true, force: true });
  });

  function look(message: Message): void {
    if (message.client_ref !== undefined) {
      const command = commands.get(message.client_ref) ?? "";
      const problem = message.type === "error" ? JSON.stringify(message) : problemWithReply(command, message);
      if (problem !== null) problems.push(`reply to ${command}: ${problem}`);
      answered.add(command);
      return;
    }
    const { kind, problem } = judgePushed(message);
    kinds.add(kind);
    if (problem !== null) problems.push(`${kind}: ${problem}`);
  }

  /** Allows and answers whatever is asked. */
  function answer({ event }: Message): void {
    if (event?.type === "permission_requested")
      void send({ type: "approve", request_id: event.request_id, decision: "allow", digest: event.digest });
    if (event?.type === "question_asked")
      void send({
        type: "answer",
        request_id: event.request_id,
        answers: event.questions.map((each: Message) => each.options[0]?.label ?? "no"),
      });
  }

  let sent = 0;
  async function send(command: {
    readonly type: string;
    readonly [field: string]: unknown;
  }): Promise<Message> {
    sent += 1;
    const client_ref = `m${sent}`;
    commands.set(client_ref, command.type);
    desk.send(JSON.stringify({ ...command, client_ref }));
    return desk.waitFor((message) => message.client_ref === client_ref);
  }
  async function turn(command: {
    readonly type: string;
    readonly [field: string]: unknown;
  }): Promise<Message> {
    const ack = await send(command);
    await desk.waitFor(({ event }) => event?.type === "turn_finished" && event.turn === ack.turn);
    return ack;
  }

  it("fit their schemas: agents, in all that the replay runtime can play", async () => {
    const { agent } = await send({
      type: "agent_start",
      runtime: "replay",
      model: "features",
      label: "tests",
    });
    await turn({ type: "prompt", agent, text: "go", request_id: "k1" });
    await turn({ type: "prompt", agent, text: "fail" });
    await turn({ type: "compact", agent });
    await send({ type: "clear", agent });
    await send({ type: "thinking", agent, thinking: "low" });
    await send({ type: "session_update", session: agent, title: "Everything", pinned: true });
    await send({ type: "receipt", request_id: "k1" });
    await send({ type: "model", agent, model: "tour" });
    await send({ type: "agent_activate", agent });
    await send({ type: "agent_close", agent });
    await send({ type: "agent_open", agent });
    const shell = await turn({ type: "prompt", text: "echo one; echo two >&2" });
    const slow = await send({ type: "prompt", agent: shell.agent, text: "sleep 60" });
    await send({ type: "cancel", agent: slow.agent });
    expect(problems).toEqual([]);
  });

  it("fit their schemas: workspaces, tabs and jobs", async () => {
    const { workspace } = await send({ type: "workspace_create", name: "feature" });
    await send({ type: "workspace_open", workspace });
    await send({ type: "workspace_rename", workspace, name: "feature-2" });
    const { tab } = await send({
      type: "tab_create",
      workspace,
      cwd: join(folder, "second"),
      name: "second",
    });
    await send({ type: "tab_rename", tab, name: "renamed" });
    await send({ type: "tab_runtime", tab, runtime: "replay", model: "tour", project: true });
    await send({ type: "tab_runtime", tab, runtime: "shell" });
    await send({ type: "tab_activate", tab });
    const moved = await send({ type: "job_start", tab, command: "exec sleep 60" });
    const { workspace: first } = await send({
      type: "launch",
      workspace: "new",
      cwd: folder,
      text: "echo launched",
    });
    await send({ type: "tab_move", tab, workspace: first, index: 0 });
    await send({ type: "mode", tab, mode: "autopilot" });
    await send({ type: "workspace_delete", workspace });
    await send({ type: "workspace_list" });
    const { job } = await send({ type: "job_start", tab, command: "echo hello; exec sleep 60" });
    await send({ type: "job_follow", job: job.id, on: true });
    await desk.waitFor((message) => message.type === "job_more" && message.size > 0);
    await send({ type: "job_output", job: job.id, offset: 0 });
    await send({ type: "job_list" });
    await send({ type: "job_kill", job: job.id });
    await desk.waitFor((message) => message.type === "job_finished" && message.job.id === job.id);
    await send({ type: "job_kill", job: moved.job.id });
    await send({ type: "tab_close", tab });
    const { agent: gone } = await turn({ type: "prompt", text: "echo gone" });
    await send({ type: "agent_close", agent: gone });
    await daemon.request("DELETE", `/api/sessions/${gone}`);
    await desk.waitFor((message) => message.type === "session_deleted" && message.session === gone);
    expect(problems).toEqual([]);
  });

  it("fit their schemas: the daemon, devices and clients that come and go", async () => {
    const since = desk.messages.findLast((message) => message.rev !== undefined)?.rev;
    await send({ type: "ping" });
    await send({ type: "keep_awake", mode: "busy" });
    await send({ type: "control_permissions" });
    await send({ type: "snapshot" });
    await send({ type: "snapshot", since, instance: daemon.instance });
    const { json } = await daemon.request("POST", "/api/pair/codes", { body: {} });
    const paired = await request(daemon.url, "POST", "/api/pair", {
      body: { code: json.code, name: "phone" },
    });
    const query = `?since=${since}&instance=${daemon.instance}`;
    const phone = await openSocket(daemon.url, { token: paired.json.token, query });
    const [first] = phone.messages;
    expect(first.since).toBe(since);
    look(first);
    await phone.close();
    await writeFile(join(home, "config.toml"), `${config}[jobs]\nkeep_days = 3\n`);
    await desk.waitFor((message) => message.type === "reloaded");
    await writeFile(join(home, "config.toml"), "this is not TOML");
    await desk.waitFor((message) => message.type === "notice" && message.rev !== undefined);
    await daemon.request("POST", "/api/daemon/stop", { body: { force: true } });
    await desk.closed;
    expect(problems).toEqual([]);
  });

  it("were of every kind that there is", () => {
    // There is nothing to control yet.
    const changes = Object.keys(changeBodies).filter((type) => type !== "control" && type !== "event");
    const events = Object.keys(agentEventBodies).map((type) => `event ${type}`);
    const wanted = ["snapshot", "job_more", ...changes, ...events];
    expect(wanted.filter((kind) => !kinds.has(kind))).toEqual([]);
    expect(Object.keys(commandSchemas).filter((type) => !answered.has(type))).toEqual([]);
  });
});
