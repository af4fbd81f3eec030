import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { newId } from "../../../src/lib/ids.ts";
import type { MewSocket } from "../../helpers/mew-socket.ts";
import type { Message } from "../../helpers/socket.ts";
import { deviceLease } from "../harness.ts";
import { type MewApp, newSession, promptsIn, startMew, turnEnded } from "./harness.ts";

let app: MewApp;
beforeEach(async () => {
  app = await startMew({ engine: { judgeCall: () => ({ verdict: "allow", by: "test" }) } });
});
afterEach(() => app.close());

const submit = (socket: MewSocket, session_id: string, request_id: string, text = "sleep 9") =>
  socket.ask({ type: "SubmitPrompt", session_id, request_id, text, attachments: [] }, "PromptReceipt");
const historyOf = (socket: MewSocket, session_id: string): Promise<Message> =>
  socket.ask({ type: "AttachSession", session_id }, "SessionHistory");

describe("Prompt", () => {
  it("is answered by an error during a turn, and starts nothing", async () => {
    const socket = await app.mew();
    const id = await newSession(socket);
    socket.send({ type: "Prompt", text: "sleep 9" });
    await socket.waitFor((message) => message.type === "ToolStart");
    const error = await socket.ask({ type: "Prompt", text: "echo no" }, "Error");
    expect(error.message).toMatch(/turn in progress/);
    (await app.fixture.jobs.nextCall()).end();
    await socket.waitFor(turnEnded);
    expect(promptsIn(await historyOf(socket, id))).toEqual(["sleep 9"]);
    expect(app.fixture.jobs.calls).toHaveLength(1);
  });

  it("runs turns one after the other, each with a cancel of its own", async () => {
    const socket = await app.mew();
    await newSession(socket);
    for (const text of ["sleep 1", "sleep 2"]) {
      socket.send({ type: "Prompt", text });
      const from = socket.messages.length;
      await socket.waitFor((message) => message.type === "ToolStart", from);
      const other = await app.mew();
      socket.send({ type: "Cancel" });
      await socket.waitFor((message) => message.type === "ErrorEvent", from);
      await other.close();
      await socket.settle();
    }
    socket.send({ type: "Prompt", text: "echo fine" });
    const call = app.fixture.jobs;
    for (let n = 0; n < 2; n += 1) await call.nextCall();
    (await call.nextCall()).end();
    await socket.waitFor(turnEnded);
  });

  it("is refused without a session", async () => {
    const socket = await app.mew();
    for (const message of [
      { type: "Prompt", text: "x" },
      { type: "Cancel" },
      { type: "SlashCommand", command: "/clear" },
      { type: "SwitchModel", provider: "replay", model: "x" },
      { type: "SetThinkingVariant", variant: "off" },
      { type: "PermissionResponse", request_id: newId(), decision: "deny" },
      { type: "AskUserResponse", request_id: newId(), answers: [], cancelled: true },
    ])
      expect((await socket.ask(message, "Error")).message).toMatch(/no session/);
  });

  it("counts what a client sent before it left", async () => {
    const first = await app.mew();
    const id = await newSession(first);
    first.send({ type: "Prompt", text: "sleep 9" });
    await first.close();
    await app.fixture.jobs.nextCall();
    expect(promptsIn(await historyOf(await app.mew(), id))).toEqual(["sleep 9"]);
  });

  it("refuses attachments that cannot be read, and a text over the bound", async () => {
    const socket = await app.mew();
    await newSession(socket);
    for (const attachments of [[{ path: "a.txt", mime: null }], [{ path: "/etc/passwd" }]])
      expect((await socket.ask({ type: "Prompt", text: "x", attachments }, "Error")).message).toMatch(
        /attachments/,
      );
    const huge = await socket.ask({ type: "Prompt", text: "x".repeat(2_000_000) }, "Error");
    expect(huge.message).toMatch(/"text"/);
    expect(app.fixture.jobs.calls).toEqual([]);
  });
});

describe("SubmitPrompt", () => {
  it("reserves the next turn of a busy session, once, and tells a third that it is reserved", async () => {
    const socket = await app.mew();
    const id = await newSession(socket);
    expect(await submit(socket, id, "k1")).toEqual({
      type: "PromptReceipt",
      session_id: id,
      request_id: "k1",
      status: "accepted",
    });
    expect((await submit(socket, id, "k2", "echo 2")).status).toBe("accepted");
    expect(await submit(socket, id, "k3", "echo 3")).toMatchObject({
      status: "rejected",
      message: "The next turn is already reserved.",
    });
    (await app.fixture.jobs.nextCall()).end();
    (await app.fixture.jobs.nextCall()).end();
    const ends = () => socket.messages.filter(turnEnded);
    await socket.waitFor(() => ends().length === 2);
    // A rejected one stays rejected, whatever it is sent with again.
    expect(await submit(socket, id, "k3", "echo 4")).toMatchObject({ status: "rejected" });
    expect(promptsIn(await historyOf(socket, id))).toEqual(["sleep 9", "echo 2"]);
  });

  it("gives the same request the same receipt from every client and device, and starts nothing", async () => {
    const socket = await app.mew();
    const id = await newSession(socket);
    await submit(socket, id, "k1");
    app.lease = deviceLease();
    const other = await app.mew("snake");
    const again = await other.ask(
      { type: "submit_prompt", session_id: id, request_id: "k1", text: "rm -rf x", attachments: [] },
      "prompt_receipt",
    );
    expect(again).toEqual({ type: "prompt_receipt", session_id: id, request_id: "k1", status: "accepted" });
    expect(
      await other.ask({ type: "submit_prompt", session_id: id, request_id: "k1", text: 7 }, "prompt_receipt"),
    ).toMatchObject({ status: "accepted" });
    await app.fixture.jobs.nextCall();
    expect(app.fixture.jobs.calls).toHaveLength(1);
  });

  it("counts a request id for its session only", async () => {
    const socket = await app.mew();
    const [one, two] = [await newSession(socket), await newSession(socket)];
    await submit(socket, one, "k1");
    expect((await submit(socket, two, "k1")).status).toBe("accepted");
    for (let n = 0; n < 2; n += 1) await app.fixture.jobs.nextCall();
  });

  it("can be asked about after a reconnect, while another conversation is attached, and after a restart", async () => {
    const socket = await app.mew();
    const id = await newSession(socket);
    await submit(socket, id, "k1");
    await socket.cut();
    const receipt = (from: MewSocket, request_id: string, session_id = id) =>
      from.ask({ type: "ReadPromptReceipt", session_id, request_id }, "PromptReceipt");
    const other = await app.mew();
    await newSession(other);
    expect(await receipt(other, "k1")).toEqual({
      type: "PromptReceipt",
      session_id: id,
      request_id: "k1",
      status: "accepted",
    });
    expect((await receipt(other, "never sent")).status).toBe("unknown");
    for (const session of [newId(), "nonsense"])
      expect(await receipt(other, "k1", session)).toMatchObject({ session_id: session, status: "unknown" });
    await app.restart();
    expect((await receipt(await app.mew(), "k1")).status).toBe("accepted");
    expect(await submit(await app.mew(), id, "k1")).toMatchObject({ status: "accepted" });
    expect(app.fixture.jobs.calls).toEqual([]);
  });

  it.each([
    ["a session that does not exist", { session_id: newId() }, /session/],
    ["a session id that is none", { session_id: "x" }, /session not found/],
    ["an empty prompt", { text: "  " }, /no command/],
    ["attachments that the session takes none of", { attachments: [{ path: "a" }] }, /attachments/],
    ["a text over the bound", { text: "x".repeat(2_000_000) }, /"text"/],
    ["a text that is none", { text: 7 }, /"text"/],
  ])("is rejected with its identities for %s", async (_, fields, message) => {
    const socket = await app.mew();
    const id = await newSession(socket);
    const sent = {
      type: "SubmitPrompt",
      session_id: id,
      request_id: "k1",
      text: "x",
      attachments: [],
      ...fields,
    };
    const receipt = await socket.ask(sent, "PromptReceipt", "Error");
    expect(receipt).toMatchObject({ session_id: sent.session_id, request_id: "k1", status: "rejected" });
    expect(receipt.message).toMatch(message);
    expect(app.fixture.jobs.calls).toEqual([]);
  });

  it("is refused to a device without drive, and can be sent by one that has it", async () => {
    const id = await newSession(await app.mew());
    app.lease = deviceLease(["view", "approve"]);
    const socket = await app.mew();
    const refused = await submit(socket, id, "k1");
    expect(refused).toMatchObject({ status: "rejected", message: expect.stringMatching(/scope "drive"/) });
    expect(socket.messages[0]).toMatchObject({
      type: "Error",
      message: expect.stringMatching(/scope "drive"/),
    });
    app.lease = deviceLease();
    expect((await submit(await app.mew(), id, "k1")).status).toBe("accepted");
  });
});

describe("a connection cut anywhere in the exchange of SubmitPrompt", () => {
  /** What an uncut client is sent: attached, receipt, the whole turn. */
  async function exchange(socket: MewSocket, id: string): Promise<void> {
    socket.send({ type: "AttachSession", session_id: id });
    socket.send({ type: "SubmitPrompt", session_id: id, request_id: "k1", text: "echo hi", attachments: [] });
    await socket.waitFor(turnEnded).catch(() => undefined);
  }
  async function cutAfter(socket: MewSocket, count: number): Promise<void> {
    if (count > 0) await socket.waitFor(() => socket.messages.length >= count);
    await socket.cut();
  }

  async function resendTwice(id: string): Promise<void> {
    const [one, two] = [await app.mew(), await app.mew()];
    const receipts = await Promise.all([submit(one, id, "k1", "echo hi"), submit(two, id, "k1", "echo hi")]);
    for (const receipt of receipts)
      expect(receipt).toEqual({
        type: "PromptReceipt",
        session_id: id,
        request_id: "k1",
        status: "accepted",
      });
  }

  async function boundaries(): Promise<number> {
    app.fixture.jobs.answer = () => ({ output: "hi\n" });
    const socket = await app.mew();
    await exchange(socket, await newSession(await app.mew()));
    return socket.messages.length;
  }

  it("runs once and stands once in the history, resent by two clients", async () => {
    const count = await boundaries();
    expect(count).toBeGreaterThan(8);
    for (let at = 0; at <= count; at += 1) {
      const id = await newSession(await app.mew());
      const before = app.fixture.jobs.calls.length;
      const socket = await app.mew();
      const sent = exchange(socket, id);
      await cutAfter(socket, at);
      await sent;
      await resendTwice(id);
      const watcher = await app.mew();
      const whole = async (): Promise<Message> => {
        const history = await historyOf(watcher, id);
        const isDone = history.messages.at(-1)?.parts[0]?.state?.status === "completed";
        if (isDone) return history;
        await watcher.waitFor(turnEnded);
        return historyOf(watcher, id);
      };
      expect(promptsIn(await whole())).toEqual(["echo hi"]);
      expect(app.fixture.jobs.calls.length - before).toBe(1);
      const read = { type: "ReadPromptReceipt", session_id: id, request_id: "k1" };
      expect((await watcher.ask(read, "PromptReceipt")).status).toBe("accepted");
      await watcher.close();
    }
  });

  it("stands once in the history when the daemon died at that moment, too", async () => {
    const count = await boundaries();
    for (let at = 0; at <= count; at += 3) {
      app.fixture.jobs.answer = () => ({ output: "hi\n" });
      const id = await newSession(await app.mew());
      const socket = await app.mew();
      const sent = exchange(socket, id);
      await cutAfter(socket, at);
      await sent;
      await app.restart();
      app.fixture.jobs.answer = () => ({ output: "hi\n" });
      await resendTwice(id);
      const history = await historyOf(await app.mew(), id);
      expect(promptsIn(history)).toEqual(["echo hi"]);
    }
  });
});
