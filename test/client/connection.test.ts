import { describe, expect, it } from "vitest";
import { AnswerError, UnreachableError } from "../../src/client/answer-error.ts";
import { type Broadcast, connect, type SocketHandlers } from "../../src/client/connection.ts";

const never = new Promise<void>(() => undefined);
const snapshot = { type: "snapshot", rev: 7, instance: "i" };

interface FakeSocket {
  readonly sent: Record<string, unknown>[];
  readonly paths: string[];
  handlers(): SocketHandlers;
  say(message: unknown): void;
  open: (path: string, handlers: SocketHandlers) => Promise<{ send(text: string): void; close(): void }>;
}

function fakeSocket(first: unknown = snapshot): FakeSocket {
  const sent: Record<string, unknown>[] = [];
  const paths: string[] = [];
  let kept: SocketHandlers | null = null;
  const handlers = (): SocketHandlers => {
    if (kept === null) throw new TypeError("not open");
    return kept;
  };
  return {
    sent,
    paths,
    handlers,
    say: (message) => handlers().message(JSON.stringify(message)),
    async open(path, given) {
      paths.push(path);
      kept = given;
      if (first !== null) given.message(JSON.stringify(first));
      return {
        send: (text) => sent.push(JSON.parse(text) as Record<string, unknown>),
        close: () => given.close(1005, ""),
      };
    },
  };
}

describe("connect", () => {
  it("names its version and resolves with the snapshot", async () => {
    const socket = fakeSocket();
    const connection = await connect({ open: socket.open, version: "1.0.0", deadline: never });
    expect(connection.snapshot.rev).toBe(7);
    expect(socket.paths).toEqual(["/api/ws?version=1.0.0"]);
  });

  it("gives each command a reference of its own and pairs replies by it, in any order", async () => {
    const socket = fakeSocket();
    const connection = await connect({ open: socket.open, version: "1", deadline: never });
    const first = connection.command({ type: "ping" });
    const second = connection.command({ type: "job_list" });
    const [one, two] = socket.sent.map(({ client_ref }) => client_ref);
    expect(one).not.toBe(two);
    socket.say({ type: "jobs", client_ref: two, jobs: [] });
    socket.say({ type: "pong", client_ref: one });
    expect((await second).type).toBe("jobs");
    expect((await first).type).toBe("pong");
  });

  it("throws an error reply as a refusal", async () => {
    const socket = fakeSocket();
    const connection = await connect({ open: socket.open, version: "1", deadline: never });
    const reply = connection.command({ type: "job_kill", job: "x" });
    socket.say({
      type: "error",
      client_ref: socket.sent[0]?.client_ref,
      code: "not_found",
      message: "No such job.",
    });
    await expect(reply).rejects.toBeInstanceOf(AnswerError);
  });

  it("tells broadcasts in order, and replies never", async () => {
    const socket = fakeSocket();
    const connection = await connect({ open: socket.open, version: "1", deadline: never });
    const heard: string[] = [];
    const stop = connection.onBroadcast((message: Broadcast) => heard.push(message.type));
    socket.say({ type: "clients", rev: 8, count: 1 });
    socket.say({ type: "lagged", rev: 9 });
    socket.say({ type: "pong", client_ref: "nobody" });
    socket.handlers().message("not json");
    socket.handlers().message('["no object"]');
    stop();
    socket.say({ type: "clients", rev: 10, count: 2 });
    expect(heard).toEqual(["clients", "lagged"]);
  });

  it("rejects what waits for a reply when the socket closes, and later commands too", async () => {
    const socket = fakeSocket();
    const connection = await connect({ open: socket.open, version: "1", deadline: never });
    const waiting = connection.command({ type: "ping" });
    socket.handlers().close(4401, "revoked");
    await expect(waiting).rejects.toBeInstanceOf(UnreachableError);
    await expect(connection.command({ type: "ping" })).rejects.toBeInstanceOf(UnreachableError);
    expect(await connection.closed).toEqual({ code: 4401, reason: "revoked" });
  });

  it("rejects when the socket closes before the snapshot", async () => {
    const socket = fakeSocket(null);
    const connecting = connect({ open: socket.open, version: "1", deadline: never });
    await Promise.resolve();
    socket.handlers().close(1006, "");
    await expect(connecting).rejects.toBeInstanceOf(UnreachableError);
  });

  it("rejects when no snapshot comes in time, and leaves a connection alone that has one", async () => {
    const late = fakeSocket(null);
    await expect(
      connect({ open: late.open, version: "1", deadline: Promise.resolve() }),
    ).rejects.toBeInstanceOf(UnreachableError);
    const socket = fakeSocket();
    const connection = await connect({ open: socket.open, version: "1", deadline: Promise.resolve() });
    await Promise.resolve();
    const reply = connection.command({ type: "ping" });
    socket.say({ type: "pong", client_ref: socket.sent[0]?.client_ref });
    expect((await reply).type).toBe("pong");
  });
});
