import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { WebSocketServer } from "ws";
import { helloProof } from "../../src/auth/master-token.ts";

export const fakeToken = "spm_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly authorization: string | null;
  readonly body: unknown;
}
export interface FakeAnswer {
  readonly status?: number;
  readonly body?: unknown;
}
export type FakeCommand = Readonly<Record<string, unknown>> & { readonly type: string };

export interface FakeDaemonOptions {
  /** What hello says beside its proof; null answers 404 like a stranger. */
  readonly hello?: Readonly<Record<string, unknown>> | null;
  /** The token that the proof is made with; null: no proof. */
  readonly provesToken?: string | null;
  readonly answer?: (request: SeenRequest) => FakeAnswer | null;
  readonly snapshot?: Readonly<Record<string, unknown>>;
  /** Handles a command of the socket; `send` sends anything. */
  readonly command?: (command: FakeCommand, send: (message: unknown) => void) => void;
}

export interface FakeDaemon {
  readonly port: number;
  readonly url: string;
  readonly requests: SeenRequest[];
  close(): Promise<void>;
}

/** A real HTTP server that plays the daemon, or a stranger, and remembers what it was sent. */
export async function startFakeDaemon(options: FakeDaemonOptions = {}): Promise<FakeDaemon> {
  const requests: SeenRequest[] = [];
  const { hello = { app: "sallyport" }, provesToken = fakeToken } = options;
  let port = 0;
  const server = createServer((incoming, outgoing) => {
    readBody(incoming).then((body) => {
      const seen: SeenRequest = {
        method: incoming.method ?? "",
        path: incoming.url ?? "",
        authorization: incoming.headers.authorization ?? null,
        body,
      };
      requests.push(seen);
      const challenge = /^\/api\/hello\?challenge=(.*)$/.exec(seen.path)?.[1];
      const answer: FakeAnswer =
        challenge === undefined
          ? (options.answer?.(seen) ?? { status: 404, body: refusal("not_found", "There is no such thing.") })
          : hello === null
            ? { status: 404, body: "hm" }
            : {
                body: {
                  ...hello,
                  ...(provesToken === null ? {} : { proof: helloProof(provesToken, port, challenge) }),
                },
              };
      outgoing.writeHead(answer.status ?? 200, { "content-type": "application/json" });
      outgoing.end(answer.body === undefined ? "" : JSON.stringify(answer.body));
    });
  });
  const sockets = new WebSocketServer({ server, path: "/api/ws" });
  sockets.on("connection", (socket, incoming) => {
    requests.push({
      method: "UPGRADE",
      path: incoming.url ?? "",
      authorization: incoming.headers.authorization ?? null,
      body: null,
    });
    const send = (message: unknown): void => socket.send(JSON.stringify(message));
    send({ ...emptySnapshot, ...options.snapshot });
    socket.on("message", (data) => options.command?.(JSON.parse(data.toString()) as FakeCommand, send));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  port = (server.address() as AddressInfo).port;
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    requests,
    async close() {
      for (const client of sockets.clients) client.terminate();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export function refusal(code: string, message: string, extra: object = {}): object {
  return { type: "error", code, message, ...extra };
}

const emptySnapshot = {
  type: "snapshot",
  rev: 1,
  instance: "i1",
  workspace: { id: "w1", name: "main", active_tab: "t1", tabs: [] },
  pending: [],
};

/** A temporary home with the `daemon.json` of a daemon at `url`. */
export async function homeWith(
  content: Readonly<Record<string, unknown>> | string | null,
  mode = 0o600,
): Promise<{ home: string; remove: () => Promise<void> }> {
  const home = await mkdtemp(join(tmpdir(), "sallyport-cli-"));
  if (content !== null) {
    const path = join(home, "daemon.json");
    await writeFile(path, typeof content === "string" ? content : JSON.stringify(content), { mode });
    await chmod(path, mode);
  }
  return { home, remove: () => rm(home, { recursive: true, force: true }) };
}

/** What a daemon in this process would have written. */
export function daemonFileOf(url: string, pid: number = process.pid): Record<string, unknown> {
  return {
    url,
    token: fakeToken,
    pid,
    version: "1.0.0",
    urls: [],
    started: "2026-01-01T00:00:00.000Z",
    instance: "i1",
  };
}

async function readBody(incoming: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming as AsyncIterable<Buffer>) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString("utf8");
  return text === "" ? null : JSON.parse(text);
}
