import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { AgentEvent } from "../../src/protocol/events.ts";
import { viewOf } from "../engine/runtimes/conversation-view.ts";
import { disposeDaemons, startTestDaemon, type TestDaemon, temporaryHome } from "../helpers/daemon.ts";
import { request } from "../helpers/http.ts";
import { openSocket, type TestSocket } from "../helpers/socket.ts";

const script = fileURLToPath(new URL("../../examples/replay/features.jsonl", import.meta.url));

/** Agents over the real wire: a desk with the master token, and devices with fewer scopes. */
describe("agents on the native socket", () => {
  let home: string;
  let folder: string;
  let daemon: TestDaemon;
  let desk: TestSocket;
  let agent: string;

  const start = () =>
    startTestDaemon({
      home,
      cwd: folder,
      config: `[replay.features]\nscript = ${JSON.stringify(script)}\n`,
    });

  beforeAll(async () => {
    home = await temporaryHome();
    folder = await mkdtemp(join(tmpdir(), "sallyport-agents-"));
    daemon = await start();
    desk = await openSocket(daemon.url, { token: daemon.token });
  });
  afterAll(async () => {
    await disposeDaemons();
    await rm(folder, { recursive: true, force: true });
  });

  async function device(scopes: readonly string[]): Promise<{ token: string; id: string }> {
    const codes = await daemon.request("POST", "/api/pair/codes", { body: { scopes } });
    const pair = { code: codes.json.code, name: scopes.join(" ") };
    const { json } = await request(daemon.url, "POST", "/api/pair", { body: pair });
    return { token: json.token, id: json.device.id };
  }
  const event = async (fits: (event: Record<string, unknown>) => boolean) =>
    (await desk.waitFor((message) => message.type === "event" && fits(message.event))).event;
  const seen = (id: string, socket = desk): AgentEvent[] =>
    socket.messages.flatMap((message) =>
      message.type === "event" && message.event.agent === id ? [message.event] : [],
    );

  it("plays a whole turn: the first answer wins, and only one with the scope counts", async () => {
    const started = await desk.command({ type: "agent_start", runtime: "replay", model: "features" });
    agent = started.agent;
    const { turn } = await desk.command({ type: "prompt", agent, text: "go" });
    const asked = await event((each) => each.type === "question_asked");
    const phone = await openSocket(daemon.url, await device(["view", "approve"]));
    const driver = await openSocket(daemon.url, await device(["view", "drive"]));
    expect(phone.messages[0].questions).toMatchObject([{ request_id: asked.request_id, agent }]);
    const answer = { type: "answer", request_id: asked.request_id, answers: ["postgres", "users", ""] };
    expect(await driver.command(answer)).toMatchObject({ type: "error", code: "scope_missing" });
    for (const [fields, field] of [
      [{ answers: ["one"] }, "answers"],
      [{ answers: "one" }, "answers"],
      [{ answers: [1, 2, 3] }, "answers.0"],
      [{ cancelled: "yes" }, "cancelled"],
      [{ request_id: 7 }, "request_id"],
    ] as const)
      expect(await phone.command({ ...answer, ...fields })).toMatchObject({ code: "invalid_field", field });
    expect(await phone.command({ ...answer, request_id: agent })).toMatchObject({ code: "not_found" });
    expect(await phone.command(answer)).toMatchObject({
      type: "ack",
      request_id: asked.request_id,
      cancelled: false,
    });
    expect(await desk.command(answer)).toMatchObject({ code: "conflict", reason: "already_resolved" });
    for (let n = 0; n < 2; n += 1) {
      const permission = await desk.waitFor(
        (message) =>
          message.event?.type === "permission_requested" &&
          !desk.messages.some(
            (later) =>
              later.event?.type === "permission_resolved" &&
              later.event.request_id === message.event.request_id,
          ),
      );
      const { request_id } = permission.event;
      await phone.command({ type: "approve", request_id, decision: "allow" });
    }
    const strict = await event((each) => each.type === "question_asked" && each.subagent === "reviewer");
    await phone.command({ type: "answer", request_id: strict.request_id, cancelled: true });
    expect(await event((each) => each.type === "turn_finished" && each.turn === turn)).toMatchObject({
      outcome: "done",
    });
    expect(
      seen(agent).flatMap((each) => (each.type === "assistant_message" ? [each.message.text] : [])),
    ).toEqual(["I **speak** in pieces.", "A server, then."]);
    expect(viewOf(seen(agent)).torn).toEqual([]);
    await phone.close();
    await driver.close();
  });

  it("shows who joins in the middle of a turn the whole of it", async () => {
    const { turn } = await desk.command({ type: "prompt", agent, text: "once more" });
    const asked = await event((each) => each.type === "question_asked" && each.turn === turn);
    const late = await openSocket(daemon.url, { token: daemon.token });
    const page = (await daemon.request("GET", `/api/sessions/${agent}`)).json;
    expect(page.streaming).toMatchObject({ text: "", tools: [] });
    expect(page.records.at(-1)).toMatchObject({ type: "question_asked", turn });
    await late.command({ type: "answer", request_id: asked.request_id, cancelled: true });
    await late.command({ type: "cancel", agent });
    const ended = (message: { event?: { type: string; turn: string } }) =>
      message.event?.type === "turn_finished" && message.event.turn === turn;
    await Promise.all([late.waitFor(ended), desk.waitFor(ended)]);
    expect(viewOf(seen(agent, late), page)).toEqual(viewOf(seen(agent)));
    await late.close();
  });

  it("refuses what an agent cannot do, with the field's name", async () => {
    const other = "01a17453-0000-7000-8000-000000000000";
    for (const [command, fields] of [
      [
        { type: "model", agent, model: "nope" },
        { code: "invalid_field", field: "model" },
      ],
      [
        { type: "model", agent },
        { code: "invalid_field", field: "model" },
      ],
      [
        { type: "model", agent, model: 7 },
        { code: "invalid_field", field: "model" },
      ],
      [{ type: "model", agent: other, model: "features" }, { code: "not_found" }],
      [{ type: "compact" }, { code: "invalid_field", field: "agent" }],
      [{ type: "compact", agent: other }, { code: "not_found" }],
      [
        { type: "agent_open", agent: 1 },
        { code: "invalid_field", field: "agent" },
      ],
      [{ type: "agent_open", agent: "../x" }, { code: "not_found" }],
      [{ type: "agent_activate", agent: other }, { code: "not_found" }],
      [
        { type: "agent_start", runtime: "magic" },
        { code: "invalid_field", field: "runtime" },
      ],
      [
        { type: "agent_start", model: "features" },
        { code: "not_supported", field: "model" },
      ],
    ] as const)
      expect(await desk.command(command)).toMatchObject({ type: "error", ...fields });
  });

  it("compacts, closes and opens again, over a kill -9 of the daemon", async () => {
    const { turn } = await desk.command({ type: "compact", agent });
    await event((each) => each.type === "turn_finished" && each.turn === turn);
    expect(seen(agent).find((each) => each.type === "compacted")).toMatchObject({
      summary: 'Asked so far: "go", "once more".',
    });
    expect(await desk.command({ type: "agent_close", agent })).toMatchObject({ type: "ack" });
    await daemon.kill9();
    daemon = await start();
    desk = await openSocket(daemon.url, { token: daemon.token });
    const { sessions } = (await daemon.request("GET", "/api/sessions")).json;
    expect(sessions).toMatchObject([{ id: agent, title: "One of everything", state: "closed" }]);
    const opened = await desk.command({ type: "agent_open", agent });
    expect(opened).toMatchObject({ type: "ack", agent });
    const snapshot = await desk.command({ type: "snapshot" });
    const tab = snapshot.workspace.tabs.find((each: { id: string }) => each.id === opened.tab);
    expect(tab).toMatchObject({
      active_agent: agent,
      agents: [{ id: agent, live: false, model: "features" }],
    });
    const shell = await desk.command({ type: "agent_start" });
    expect(await desk.command({ type: "agent_activate", agent })).toMatchObject({ tab: opened.tab, agent });
    expect(await desk.command({ type: "compact", agent: shell.agent })).toMatchObject({
      code: "not_supported",
      field: "agent",
    });
  });

  it("resolves a job request when the device that asked is revoked: nothing runs", async () => {
    const { token, id } = await device(["view", "drive"]);
    const asker = await openSocket(daemon.url, { token });
    const { request_id } = await asker.command({ type: "job_start", command: "touch should-not-exist" });
    await event((each) => each.type === "permission_requested" && each.request_id === request_id);
    expect((await daemon.request("DELETE", `/api/devices/${id}`)).status).toBe(204);
    expect(await asker.closed).toMatchObject({ code: 4401 });
    expect(
      await event((each) => each.type === "permission_resolved" && each.request_id === request_id),
    ).toMatchObject({ allowed: false, decision: null, by: null });
    expect(await desk.command({ type: "approve", request_id, decision: "allow" })).toMatchObject({
      code: "conflict",
      reason: "turn_over",
    });
    expect((await daemon.request("GET", "/api/jobs")).json.jobs).toEqual([]);
  });
});
