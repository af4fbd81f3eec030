import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { join } from "node:path";
import type { Lease } from "../../../src/auth/principal.ts";
import { commandScopes, mewScopes } from "../../../src/auth/scope-table.ts";
import type { EngineOptions } from "../../../src/engine/create-engine.ts";
import type { Engine } from "../../../src/engine/engine.ts";
import { createReplayRuntime } from "../../../src/engine/runtimes/replay.ts";
import { admit } from "../../../src/gateway/admission.ts";
import { createMewServer } from "../../../src/gateway/mew/server.ts";
import { createNativeServer } from "../../../src/gateway/native/server.ts";
import type { DaemonFacts } from "../../../src/gateway/native/snapshot-view.ts";
import type { ConnectionTiming } from "../../../src/gateway/sockets/connection.ts";
import { createSocketRegistry, type SocketRegistry } from "../../../src/gateway/sockets/registry.ts";
import type { Remote } from "../../../src/protocol/objects.ts";
import { engineFixture, type Fixture } from "../../engine/support/engine-fixture.ts";
import { type MewSocket, openMew } from "../../helpers/mew-socket.ts";
import { type Message, openSocket, type TestSocket } from "../../helpers/socket.ts";
import { masterLease } from "../harness.ts";

export interface MewApp {
  readonly fixture: Fixture;
  readonly engine: Engine;
  readonly base: string;
  readonly registry: SocketRegistry;
  readonly logged: { readonly level: string; readonly message: string }[];
  /** Sockets that the server accepted, oldest first. */
  readonly sockets: Socket[];
  /** Whom the next sockets come from. */
  lease: Lease;
  graceSeconds: number;
  mew(spelling?: "camel" | "snake", path?: string): Promise<MewSocket>;
  native(): Promise<TestSocket>;
  /** Kills the daemon's inside and opens the home anew. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

export interface MewAppOptions {
  readonly engine?: Partial<EngineOptions>;
  /** Changes the engine that the dialects work on. */
  readonly wrap?: (engine: Engine) => Engine;
  /** Scripts of the replay runtime, by name. */
  readonly scripts?: Readonly<Record<string, readonly object[]>>;
  readonly timing?: ConnectionTiming;
  readonly maxQueueBytes?: number;
  readonly now?: () => number;
}

const remote: Remote = {
  access: "off",
  bound: [],
  addresses: [],
  tunnel: { provider: null, state: "off", url: null, text: null, link: null, reason: null, next_try: null },
  devices: 0,
};

/** The real engine, with jobs that need no process, behind sockets of both dialects. */
export async function startMew(options: MewAppOptions = {}): Promise<MewApp> {
  const paths: Record<string, string> = {};
  const runtimes = () => [createReplayRuntime({ scripts: () => paths, now: Date.now })];
  const fixture = await engineFixture({
    runtimes: runtimes(),
    tabRuntime: () => (options.scripts ? "replay" : "shell"),
    ...options.engine,
  });
  for (const [name, steps] of Object.entries(options.scripts ?? {})) {
    const path = join(fixture.home, "..", `${name}.jsonl`);
    await writeFile(path, steps.map((step) => JSON.stringify(step)).join("\n"));
    paths[name] = path;
  }
  const logged: MewApp["logged"] = [];
  const note = (level: string) => (_fields: object, message: string) => void logged.push({ level, message });
  const log = { debug: note("debug"), info: note("info"), warn: note("warn"), error: note("error") };
  const sockets: Socket[] = [];
  const server = createServer();
  let inside = open();

  function open() {
    const engine = options.wrap ? options.wrap(fixture.engine) : fixture.engine;
    const changeLog = fixture.log;
    const registry = createSocketRegistry({
      onCount: (count) => changeLog.append({ type: "clients", count }),
      countIntervalMs: 20,
    });
    const facts: DaemonFacts = {
      version: "1.2.3",
      pid: 1,
      started: "2026-11-30T10:00:00.000Z",
      idleMinutes: null,
      remote: () => remote,
      awake: () => ({ mode: "off", active: false, available: true }),
      clients: () => registry.count,
    };
    const shared = {
      engine,
      changeLog,
      registry,
      log,
      ...(options.now ? { now: options.now } : {}),
      ...(options.timing ? { timing: options.timing } : {}),
      ...(options.maxQueueBytes === undefined ? {} : { maxQueueBytes: options.maxQueueBytes }),
    };
    const native = createNativeServer({
      ...shared,
      facts,
      commandScopes,
      setAwake: async () => facts.awake(),
    });
    const mew = createMewServer({
      ...shared,
      mewScopes,
      version: facts.version,
      detachGraceSeconds: () => app.graceSeconds,
    });
    return { engine, registry, native, mew };
  }

  server.on("connection", (socket) => sockets.push(socket));
  server.on("upgrade", (request, socket, head) => {
    const { lease } = app;
    admit(request, { lease, requestClass: "remote", door: "main", clientAddress: "127.0.0.1" });
    const dialect = request.url?.startsWith("/api/ws") ? inside.native : inside.mew;
    dialect.upgrade(request, socket as Socket, head);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");

  const app: MewApp = {
    fixture,
    get engine() {
      return inside.engine;
    },
    base: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get registry() {
      return inside.registry;
    },
    logged,
    sockets,
    lease: masterLease(),
    graceSeconds: 30,
    mew: (spelling = "camel", path = "/mew") => openMew(app.base, { path, spelling }),
    native: () => openSocket(app.base),
    async restart() {
      for (const socket of sockets) socket.destroy();
      inside.native.close();
      inside.mew.close();
      await fixture.restart({ runtimes: runtimes() });
      inside = open();
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      inside.native.close();
      inside.mew.close();
      server.close();
      await once(server, "close");
      await fixture.dispose();
    },
  };
  return app;
}

/** Makes a session and resolves with its id. */
export async function newSession(socket: MewSocket): Promise<string> {
  const ready = await socket.ask({ type: "NewSession" }, "SessionReady", "Error");
  if (ready.type === "Error") throw new Error(ready.message);
  return ready.session_id;
}

export const turnEnded = (message: Message): boolean =>
  message.type === "Provider" && message.event.type === "MessageEnd" && message.event.finish === "stop";

/** The texts of the user's messages in a `SessionHistory`. */
export const promptsIn = (history: Message): string[] =>
  history.messages
    .filter((message: Message) => message.role === "user")
    .map((message: Message) => message.parts[0].text);
