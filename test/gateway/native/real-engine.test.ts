import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { commandScopes } from "../../../src/auth/scope-table.ts";
import { applyChange, needsSnapshot } from "../../../src/client/apply-change.ts";
import { createReplayRuntime } from "../../../src/engine/runtimes/replay.ts";
import { admit } from "../../../src/gateway/admission.ts";
import { createNativeServer } from "../../../src/gateway/native/server.ts";
import type { DaemonFacts } from "../../../src/gateway/native/snapshot-view.ts";
import { createSocketRegistry } from "../../../src/gateway/sockets/registry.ts";
import type { Snapshot } from "../../../src/protocol/changes.ts";
import { type CommandType, commandSchemas } from "../../../src/protocol/commands.ts";
import type { Awake, Remote } from "../../../src/protocol/objects.ts";
import { engineFixture, type Fixture } from "../../engine/support/engine-fixture.ts";
import { judgePushed, problemWithReply } from "../../helpers/protocol-schemas.ts";
import { type Message, openSocket, type TestSocket } from "../../helpers/socket.ts";
import { masterLease } from "../harness.ts";

const at = "2026-11-30T10:00:00.000Z";
const script = [
  { type: "text_delta", text: "so " },
  {
    type: "question_asked",
    id: "q",
    questions: [{ prompt: "Which?", options: [{ label: "a" }, { label: "b" }] }],
  },
  { type: "assistant_message" },
];

let fixture: Fixture;
let base: string;
let closeServer: () => Promise<void>;

/** The real engine, with jobs that need no process, behind the real socket. */
beforeEach(async () => {
  const scripts: Record<string, string> = {};
  fixture = await engineFixture({
    runtimes: [createReplayRuntime({ scripts: () => scripts, now: Date.now })],
  });
  scripts.ask = join(fixture.project, "ask.jsonl");
  await writeFile(scripts.ask, script.map((step) => JSON.stringify(step)).join("\n"));
  for (const name of ["one", "two"]) await mkdir(join(fixture.project, name));
  fixture.jobs.answer = () => ({});
  const registry = createSocketRegistry({
    onCount: (count) => fixture.log.append({ type: "clients", count }),
    countIntervalMs: 20,
  });
  const awake: { now: Awake } = { now: { mode: "off", active: false, available: true } };
  const tunnel = { provider: null, state: "off", url: null, text: null, link: null, reason: null } as const;
  const remote: Remote = {
    access: "off",
    bound: ["127.0.0.1:7700"],
    addresses: [],
    tunnel: { ...tunnel, next_try: null },
    devices: 0,
  };
  const facts: DaemonFacts = {
    version: "1.2.3",
    pid: 1,
    started: at,
    idleMinutes: null,
    remote: () => remote,
    awake: () => awake.now,
    clients: () => registry.count,
  };
  const silent = () => undefined;
  let clockMs = 0;
  const native = createNativeServer({
    engine: fixture.engine,
    changeLog: fixture.log,
    facts,
    registry,
    commandScopes,
    async setAwake(mode) {
      awake.now = { mode, active: mode === "always", available: true };
      fixture.log.append({ type: "awake", ...awake.now });
      return awake.now;
    },
    log: { debug: silent, info: silent, warn: silent, error: silent },
    // Time goes fast enough for nobody to be over the rate.
    now: () => (clockMs += 20),
  });
  const sockets = new Set<Socket>();
  const server = createServer();
  server.on("connection", (socket) => sockets.add(socket));
  server.on("upgrade", (request, socket, head) => {
    admit(request, {
      lease: masterLease(),
      requestClass: "local",
      door: "main",
      clientAddress: "127.0.0.1",
    });
    native.upgrade(request, socket as Socket, head);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  closeServer = async () => {
    for (const socket of sockets) socket.destroy();
    native.close();
    server.close();
    await once(server, "close");
  };
});
afterEach(async () => {
  await closeServer();
  await fixture.dispose();
});

interface Known {
  readonly workspaces: string[];
  readonly tabs: string[];
  readonly agents: string[];
  readonly permissions: string[];
  readonly questions: string[];
  readonly jobs: string[];
}
/** One of those that are known by now, the same for the same number. */
const pick = (ids: readonly string[], n: number): string => ids[n % Math.max(1, ids.length)] ?? "none";

/** A name that nothing has yet: to give one the name that it has tells nobody anything. */
let names = 0;
const newName = (): string => `name ${++names}`;

/** How each command is made of two random numbers and what the client knows. */
const makers: { readonly [T in CommandType]: (known: Known, n: number, m: number) => Message } = {
  prompt: ({ agents, tabs }, n, m) =>
    m % 3 === 0
      ? { tab: pick(tabs, n), text: "echo hello" }
      : { agent: pick(agents, n), text: "echo hello", queue: m % 2 === 0 },
  receipt: (_, n) => ({ request_id: `k${n}` }),
  cancel: ({ agents }, n) => ({ agent: pick(agents, n) }),
  approve: ({ permissions }, n, m) => ({
    request_id: pick(permissions, n),
    decision: ["allow", "allow_session", "deny"][m % 3],
  }),
  answer: ({ questions }, n, m) => ({
    request_id: pick(questions, n),
    ...(m % 2 === 0 ? { answers: ["a"] } : { cancelled: true }),
  }),
  mode: ({ tabs }, n, m) => ({ tab: pick(tabs, n), mode: ["ask", "edits"][m % 2] }),
  agent_start: ({ tabs }, n, m) => ({
    tab: pick(tabs, n),
    ...(m % 2 === 0 ? { runtime: "replay", model: "ask" } : {}),
  }),
  agent_close: ({ agents }, n) => ({ agent: pick(agents, n) }),
  agent_open: ({ agents }, n) => ({ agent: pick(agents, n) }),
  agent_activate: ({ agents }, n) => ({ agent: pick(agents, n) }),
  compact: ({ agents }, n) => ({ agent: pick(agents, n) }),
  clear: ({ agents }, n) => ({ agent: pick(agents, n) }),
  thinking: ({ agents }, n, m) => ({ agent: pick(agents, n), thinking: ["low", "high", null][m % 3] }),
  session_update: ({ agents }, n, m) => ({
    session: pick(agents, n),
    ...(m % 2 === 0 ? { title: newName() } : { pinned: m % 3 === 0 }),
  }),
  model: ({ agents }, n) => ({ agent: pick(agents, n), model: "ask" }),
  tab_create: (_, n, m) => ({
    cwd: join(fixture.project, ["one", "two", "none"][n % 3] ?? ""),
    ...(m % 2 === 0 ? { name: `tab ${m}` } : {}),
  }),
  tab_close: ({ tabs }, n) => ({ tab: pick(tabs, n) }),
  tab_activate: ({ tabs }, n) => ({ tab: pick(tabs, n) }),
  tab_rename: ({ tabs }, n) => ({ tab: pick(tabs, n), name: newName() }),
  tab_runtime: ({ tabs }, n, m) => ({
    tab: pick(tabs, n),
    runtime: ["shell", "replay"][m % 2],
    project: n % 2 === 0,
  }),
  tab_move: ({ tabs, workspaces }, n, m) => ({
    tab: pick(tabs, n),
    index: m % 3,
    ...(m % 2 === 0 ? { workspace: pick(workspaces, m) } : {}),
  }),
  launch: ({ workspaces }, n, m) => ({
    workspace: ["last", "new", { name: "named" }, { id: pick(workspaces, n) }][m % 4],
    cwd: join(fixture.project, ["one", "two"][n % 2] ?? ""),
    ...(n % 3 === 0 ? { text: "echo launched" } : {}),
  }),
  workspace_list: () => ({}),
  workspace_create: (_, n) => ({ name: `workspace ${n}` }),
  workspace_open: ({ workspaces }, n) => ({ workspace: pick(workspaces, n) }),
  workspace_rename: ({ workspaces }, n) => ({ workspace: pick(workspaces, n), name: newName() }),
  workspace_delete: ({ workspaces }, n) => ({ workspace: pick(workspaces, n) }),
  job_start: ({ tabs }, n) => ({ tab: pick(tabs, n), command: "sleep 60" }),
  job_list: () => ({}),
  job_output: ({ jobs }, n) => ({ job: pick(jobs, n) }),
  job_follow: ({ jobs }, n, m) => ({ job: pick(jobs, n), on: m % 2 === 0 }),
  job_kill: ({ jobs }, n) => ({ job: pick(jobs, n) }),
  snapshot: () => ({}),
  keep_awake: (_, n) => ({ mode: ["busy", "always", "off"][n % 3] }),
  control_permissions: () => ({}),
  ping: () => ({}),
};

type Fits = (message: Message) => boolean;
const event =
  (type: string, fits: Fits): Fits =>
  (message) =>
    message.type === "event" && message.event.type === type && fits(message.event);

/** The change that must have come before a reply that was no error; null where a command may cause none. */
const effects: { readonly [T in CommandType]?: (command: Message, reply: Message) => Fits | null } = {
  prompt: ({ queue }, { turn }) => (queue ? null : event("user_message", (each) => each.turn === turn)),
  approve: ({ request_id }) => event("permission_resolved", (each) => each.request_id === request_id),
  answer: ({ request_id }) => event("question_resolved", (each) => each.request_id === request_id),
  agent_start: (_, reply) => (each) => each.type === "agent_updated" && each.agent.id === reply.agent,
  agent_close: (command) => (each) =>
    each.type === "agent_updated" && each.agent.id === command.agent && each.agent.state === "closed",
  agent_open: (_, reply) => (each) => each.type === "agent_updated" && each.agent.id === reply.agent,
  model: (command) => (each) => each.type === "agent_updated" && each.agent.id === command.agent,
  compact: (_, { turn }) => event("turn_started", (each) => each.turn === turn),
  tab_create: (_, reply) => (each) => each.type === "tab_created" && each.tab.id === reply.tab,
  tab_close: (command) => (each) => each.type === "tab_closed" && each.tab === command.tab,
  tab_rename: (command) => (each) =>
    each.type === "tab_updated" && each.tab.id === command.tab && each.tab.name === command.name,
  workspace_create: (_, reply) => (each) =>
    each.type === "workspace_created" && each.workspace.id === reply.workspace,
  workspace_rename: (command) => (each) =>
    each.type === "workspace_updated" &&
    each.workspace.id === command.workspace &&
    each.workspace.name === command.name,
  workspace_delete: (command) => (each) =>
    each.type === "workspace_deleted" && each.workspace === command.workspace,
  job_start: (_, reply) => (each) => each.type === "job_started" && each.job.id === reply.job.id,
  keep_awake: (command) => (each) => each.type === "awake" && each.mode === command.mode,
};

/** Adds what a message tells of to what the client knows. */
function learn(known: Known, message: Message): void {
  const { type } = message;
  if (type === "workspace_created") known.workspaces.push(message.workspace.id);
  else if (type === "tab_created") known.tabs.push(message.tab.id);
  else if (type === "agent_updated" && !known.agents.includes(message.agent.id))
    known.agents.push(message.agent.id);
  else if (type === "job_started" && message.rev !== undefined) known.jobs.push(message.job.id);
  else if (type !== "event") return;
  else if (message.event.type === "permission_requested") known.permissions.push(message.event.request_id);
  else if (message.event.type === "question_asked") known.questions.push(message.event.request_id);
}

/** Without what no change tells. */
function comparable({ daemon: _daemon, rev: _rev, workspaces, ...state }: Snapshot): Message {
  return { ...state, workspaces: workspaces.map(({ tabs: _tabs, used: _used, ...row }) => row) };
}

/** Without what turns change on their own while a snapshot is made: a step before it is told. */
function atRest(snapshot: Snapshot): unknown {
  const state = comparable(snapshot);
  const tabs = state.workspace.tabs.map((tab: Message) => ({
    ...tab,
    agents: tab.agents.map(
      ({ state: _state, turn: _turn, queued: _queued, updated: _at, ...agent }: Message) => agent,
    ),
  }));
  return { ...state, workspace: { ...state.workspace, tabs } };
}

async function play(socket: TestSocket, bursts: readonly (readonly Step[])[], answered: Set<string>) {
  const [first] = socket.messages;
  const known: Known = {
    workspaces: [first.workspace.id],
    tabs: first.workspace.tabs.map((tab: Message) => tab.id),
    agents: [],
    permissions: [],
    questions: [],
    jobs: [],
  };
  const sent: Message[] = [];
  let read = 1;
  for (const burst of bursts) {
    for (const [type, n, m] of burst) {
      const command = { type, client_ref: `s${sent.length}`, ...makers[type](known, n, m) };
      sent.push(command);
      socket.send(JSON.stringify(command));
    }
    await socket.waitFor((message) => message.client_ref === `s${sent.length - 1}`);
    for (; read < socket.messages.length; read += 1) learn(known, socket.messages[read]);
  }
  const replies = socket.messages.filter((message) => message.client_ref !== undefined);
  expect(replies.map((reply) => reply.client_ref)).toEqual(sent.map((_, index) => `s${index}`));
  for (const [index, reply] of replies.entries()) {
    const command = sent[index];
    expect(problemWithReply(command.type, reply)).toBeNull();
    if (reply.type === "error") continue;
    answered.add(command.type);
    const fits = effects[command.type as CommandType]?.(command, reply) ?? null;
    const before = socket.messages.slice(0, socket.messages.indexOf(reply));
    const caused = fits === null || before.some((message) => message.rev !== undefined && fits(message));
    expect(
      caused,
      `${JSON.stringify(command)} was answered before it was told: ${JSON.stringify(reply)}`,
    ).toBe(true);
  }
}

/** Follows the changes from the first snapshot, and holds each later one against what they said. */
function follow(messages: readonly Message[]): { readonly compared: number; readonly isEqual: boolean } {
  let state: Snapshot = messages[0];
  let isWhole = true;
  let compared = 0;
  let isEqual = false;
  for (const message of messages.slice(1)) {
    if (message.type === "snapshot") {
      const { client_ref: _ref, ...snapshot } = message;
      if (isWhole && snapshot.workspace.id === state.workspace.id) {
        expect(snapshot.rev).toBe(state.rev);
        expect(atRest(state)).toEqual(atRest(snapshot));
        compared += 1;
        isEqual = isDeepStrictEqual(comparable(state), comparable(snapshot));
      }
      state = snapshot;
      isWhole = true;
    } else if (message.client_ref === undefined && message.rev !== undefined) {
      expect(judgePushed(message).problem).toBeNull();
      expect(message.rev).toBe(state.rev + 1);
      if (needsSnapshot(state, message)) isWhole = false;
      state = applyChange(state, message);
    }
  }
  return { compared, isEqual };
}

type Step = readonly [CommandType, number, number];
const types = Object.keys(commandSchemas) as CommandType[];
const step: fc.Arbitrary<Step> = fc.tuple(fc.constantFrom(...types), fc.nat(11), fc.nat(11));
const opening: readonly Step[] = [
  ["tab_create", 0, 0],
  ["agent_start", 0, 0],
  ["agent_start", 1, 1],
  ["workspace_create", 1, 0],
];

describe("one connection to the real engine", () => {
  it("gets replies in the order of its commands, each after all that its command caused", async () => {
    const answered = new Set<string>();
    let compared = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(step, { minLength: 1, maxLength: 6 }), { maxLength: 12 }),
        async (random) => {
          const socket = await openSocket(base);
          const withSnapshots = random.map((burst) => [...burst, ["snapshot", 0, 0] as const]);
          await play(
            socket,
            [
              opening,
              [
                ["prompt", 0, 1],
                ["prompt", 1, 1],
              ],
              ...withSnapshots,
            ],
            answered,
          );
          compared += follow(socket.messages).compared;
          // Once nothing is under way, what the changes said is all that there is.
          await expect
            .poll(
              async () => {
                await socket.command({ type: "snapshot" });
                return follow(socket.messages).isEqual;
              },
              { timeout: 60_000 },
            )
            .toBe(true);
          await socket.close();
        },
      ),
      { numRuns: 30 },
    );
    expect(compared).toBeGreaterThan(20);
    // Whatever the random choice: most commands did something, and were not only refused.
    expect(answered.size).toBeGreaterThan(types.length / 2);
  }, 60_000);
});
