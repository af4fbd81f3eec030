import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type WebSocket, WebSocketServer } from "ws";
import { bundlePage } from "../../scripts/build-page.js";
import { pageHeadersFor } from "../../src/gateway/security-headers.ts";

export interface Seen {
  readonly method: string;
  readonly path: string;
  readonly authorization: string | undefined;
  readonly body: Record<string, unknown> | null;
}
type Answer =
  | { readonly status: number; readonly body?: unknown; readonly headers?: Record<string, string> }
  | "drop";

/** A daemon of the wire protocol's shapes, below a base path, that answers what a test tells it to. */
export interface StubDaemon {
  readonly base: string;
  readonly seen: Seen[];
  readonly commands: Record<string, unknown>[];
  /** Answers by `METHOD path` below the base; a function is called for each request. */
  readonly answers: Map<string, (seen: Seen) => Answer>;
  /** Replies on the socket by type of the command, beside `ack` and `pong`; `"none"`: it is not answered. */
  readonly replies: Map<string, object | "none">;
  /** The page's files by path below the base; `""` is the page. */
  readonly files: Map<string, Uint8Array>;
  /** Drops every connection from now on, as without a network; `false`: takes them again. */
  setDown(isDown: boolean): void;
  send(message: unknown): void;
  closeSockets(code: number): void;
  close(): Promise<void>;
}

const types: Readonly<Record<string, string>> = {
  html: "text/html",
  js: "text/javascript",
  css: "text/css",
  svg: "image/svg+xml",
  png: "image/png",
  webmanifest: "application/manifest+json",
};
let bundled: Promise<Map<string, Uint8Array>> | null = null;

export async function startStubDaemon(): Promise<StubDaemon> {
  bundled ??= bundlePage({ root: process.cwd(), version: "1.0.0" });
  const files = new Map(await bundled);
  files.set("", files.get("index.html") ?? new Uint8Array());
  const seen: Seen[] = [];
  const commands: Record<string, unknown>[] = [];
  const answers = new Map<string, (seen: Seen) => Answer>();
  const sockets = new Set<WebSocket>();
  const replies = new Map<string, object | "none">();

  let isDown = false;
  const server = createServer((request, response) => {
    if (isDown) request.socket.destroy();
    else void respond(request, response);
  });
  const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(request.url ?? "/", "http://stub");
    const path = url.pathname.replace(/^\/base\//, "");
    let raw = "";
    for await (const chunk of request) raw += String(chunk);
    const file = files.get(path);
    if (file) {
      const type = types[path.split(".").at(-1) ?? ""] ?? "text/html";
      response.writeHead(200, { ...pageHeadersFor(true), "Content-Type": type }).end(file);
      return;
    }
    const entry: Seen = {
      method: request.method ?? "",
      path: path + url.search,
      authorization: request.headers.authorization,
      body: raw === "" ? null : (JSON.parse(raw) as Record<string, unknown>),
    };
    seen.push(entry);
    const answer = answers.get(`${entry.method} ${path}`)?.(entry) ?? {
      status: 404,
      body: { type: "error", code: "not_found", message: "No such route." },
    };
    if (answer === "drop") {
      request.socket.destroy();
      return;
    }
    response
      .writeHead(answer.status, { "Content-Type": "application/json", ...answer.headers })
      .end(answer.body === undefined ? "" : JSON.stringify(answer.body));
  };

  const webSockets = new WebSocketServer({ noServer: true });
  server.on("upgrade", (request, socket, head) => {
    if (isDown) socket.destroy();
    else webSockets.handleUpgrade(request, socket, head, (opened) => webSockets.emit("connection", opened));
  });
  webSockets.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("message", (data) => {
      const command = JSON.parse(String(data)) as Record<string, unknown>;
      commands.push(command);
      const { client_ref, type } = command;
      const reply = replies.get(String(type)) ?? {
        type: type === "ping" ? "pong" : "ack",
        agent: "a1",
        turn: "u2",
        status: "accepted",
      };
      if (reply !== "none") socket.send(JSON.stringify({ ...reply, client_ref }));
    });
    socket.send(JSON.stringify(stubSnapshot));
  });

  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    base: `http://127.0.0.1:${port}/base/`,
    seen,
    commands,
    answers,
    replies,
    files,
    setDown(next) {
      isDown = next;
      if (!isDown) return;
      for (const socket of sockets) socket.terminate();
      server.closeAllConnections();
    },
    send: (message) => {
      for (const socket of sockets) socket.send(JSON.stringify(message));
    },
    closeSockets: (code) => {
      for (const socket of sockets) socket.close(code);
    },
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.terminate();
        webSockets.close();
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

const at = "2026-11-30T12:00:00.000Z";
export const stubDevice = {
  id: "d1",
  name: "Pixel phone",
  kind: "phone",
  scopes: ["view", "drive", "approve", "admin"],
  created: at,
  expires: null,
};
const tab = {
  id: "t1",
  workspace: "w1",
  name: "api",
  cwd: "/srv/api",
  mode: "ask",
  runtime: "shell",
  trusted: true,
  loaded: true,
  active_agent: "a1",
  project: null,
};
const agent = {
  id: "a1",
  tab: "t1",
  parent: null,
  label: "cargo test",
  title: null,
  runtime: "shell",
  model: null,
  state: "waiting",
  live: true,
  turn: "u1",
  queued: false,
  updated: at,
};

export function stubRequest(id: string, command: string) {
  return {
    request_id: id,
    workspace: "w1",
    tab: "t1",
    agent: "a1",
    turn: "u1",
    call_id: "c1",
    tool: "bash",
    summary: command,
    input: { command },
    cwd: "/srv/api",
    allow_session: `bash(${command})`,
    digest: `digest of ${id}`,
    at,
  };
}

const stubSnapshot = {
  type: "snapshot",
  rev: 10,
  instance: "i1",
  daemon: {
    version: "1.0.0",
    pid: 1,
    started: at,
    version_mismatch: false,
    clients: 1,
    principal: { kind: "device", device: "d1", scopes: stubDevice.scopes },
  },
  workspaces: [{ id: "w1", name: "main", tabs: 1, used: at }],
  workspace: { id: "w1", name: "main", active_tab: "t1", tabs: [{ ...tab, agents: [agent] }] },
  pending: [stubRequest("r1", "cargo test \u202e# gnp")],
  questions: [],
  jobs: [
    {
      id: "3fa9c210",
      workspace: "w1",
      tab: "t1",
      agent: null,
      command: "npm run watch",
      cwd: "/srv/api",
      pid: 5,
      state: "running",
      exit_code: null,
      reason: null,
      started: at,
      ended: null,
      bytes: 10,
    },
  ],
  update: null,
  control: { available: false },
  models: [],
  default_model: null,
  runtimes: [],
  default_runtime: "shell",
  add_agent: null,
  remote: {
    access: "off",
    bound: [],
    addresses: [],
    tunnel: { provider: null, state: "off", url: null, text: null, link: null, reason: null, next_try: null },
    devices: 1,
  },
  awake: { mode: "off", active: false, available: true },
};
