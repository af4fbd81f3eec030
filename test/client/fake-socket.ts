import { AnswerError, UnreachableError } from "../../src/client/answer-error.ts";
import type { OpenSocketAt, SocketHandlers } from "../../src/client/connection.ts";
import type { Change, Snapshot } from "../../src/protocol/changes.ts";

export type Sent = Readonly<Record<string, unknown>> & { readonly type: string; readonly client_ref: string };

/** One connection as the other side sees it. */
export interface FakeSocket {
  readonly path: string;
  readonly sent: Sent[];
  say(message: object): void;
  /** Answers the newest command of this type. */
  reply(type: string, message: object): void;
  close(code: number, reason?: string): void;
  readonly isClosedByClient: boolean;
}

export interface FakeServer {
  readonly open: OpenSocketAt;
  readonly sockets: FakeSocket[];
  /** The newest connection; resolves when the next one is there. */
  next(): Promise<FakeSocket>;
  /** What the next attempts meet instead of a socket: an error, or nothing at all. */
  readonly failures: (Error | "silence")[];
}

export function fakeServer(): FakeServer {
  const sockets: FakeSocket[] = [];
  const waiting: ((socket: FakeSocket) => void)[] = [];
  const failures: (Error | "silence")[] = [];
  let taken = 0;
  return {
    sockets,
    failures,
    open: async (path, handlers) => {
      const failure = failures.shift();
      if (failure === "silence") return new Promise(() => undefined);
      if (failure !== undefined) throw failure;
      const { socket, client } = fakeSocket(path, handlers);
      sockets.push(socket);
      waiting.shift()?.(socket);
      return client;
    },
    next() {
      const socket = sockets[taken];
      taken += 1;
      return socket === undefined ? new Promise((resolve) => waiting.push(resolve)) : Promise.resolve(socket);
    },
  };
}

function fakeSocket(path: string, handlers: SocketHandlers) {
  const sent: Sent[] = [];
  let isClosedByClient = false;
  const socket: FakeSocket = {
    path,
    sent,
    say: (message) => handlers.message(JSON.stringify(message)),
    reply(type, message) {
      const command = sent.findLast((each) => each.type === type);
      if (command === undefined) throw new Error(`no ${type} was sent`);
      socket.say({ ...message, client_ref: command.client_ref });
    },
    close: (code, reason = "") => handlers.close(code, reason),
    get isClosedByClient() {
      return isClosedByClient;
    },
  };
  const client = {
    send: (text: string) => {
      sent.push(JSON.parse(text) as Sent);
    },
    close: (code = 1005) => {
      isClosedByClient = true;
      handlers.close(code, "");
    },
  };
  return { socket, client };
}

export function refusal(status: number, code: string): AnswerError {
  return new AnswerError(status, { type: "error", code, message: `${code}.` });
}
export function unreachable(): UnreachableError {
  return new UnreachableError("No answer.");
}

export const agentRow = {
  id: "a1",
  tab: "t1",
  parent: null,
  label: null,
  title: null,
  runtime: "shell",
  model: null,
  state: "idle",
  live: true,
  turn: null,
  queued: false,
  updated: "2026-01-01T00:00:00.000Z",
} as const;

export const tabRow = {
  id: "t1",
  workspace: "w1",
  name: "api",
  cwd: "/srv/api",
  mode: "ask",
  runtime: "shell",
  trusted: true,
  loaded: true,
  active_agent: null,
  project: null,
} as const;

export const workspaceRow = {
  id: "w1",
  name: "main",
  tabs: 1,
  used: "2026-01-01T00:00:00.000Z",
  active_tab: "t1",
} as const;

export const jobRow = {
  id: "3fa9c210",
  workspace: "w1",
  tab: "t1",
  agent: null,
  command: "make",
  cwd: "/srv/api",
  pid: 7,
  state: "running",
  exit_code: null,
  reason: null,
  started: "2026-01-01T00:00:00.000Z",
  ended: null,
  bytes: 0,
} as const;

export function snapshotOf(rev: number, instance = "i1", extra: Partial<Snapshot> = {}): Snapshot {
  return {
    type: "snapshot",
    rev,
    instance,
    daemon: {
      version: "1.0.0",
      pid: 1,
      started: "2026-01-01T00:00:00.000Z",
      version_mismatch: false,
      clients: 1,
      principal: { kind: "device", device: "d1", scopes: ["view", "drive", "approve", "admin"] },
    },
    workspaces: [workspaceRow],
    workspace: { id: "w1", name: "main", active_tab: "t1", tabs: [{ ...tabRow, agents: [] }] },
    pending: [],
    questions: [],
    jobs: [],
    update: null,
    control: { available: false },
    models: [],
    default_model: null,
    runtimes: [],
    default_runtime: "shell",
    add_agent: null,
    remote: {
      access: "off",
      bound: ["127.0.0.1:7700"],
      addresses: [],
      tunnel: {
        provider: null,
        state: "off",
        url: null,
        text: null,
        link: null,
        reason: null,
        next_try: null,
      },
      devices: 1,
    },
    awake: { mode: "off", active: false, available: true },
    ...extra,
  };
}

export function clientsChange(rev: number, count = rev): Change {
  return { type: "clients", rev, count };
}
