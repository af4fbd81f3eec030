import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Client } from "../../src/client/client.ts";
import { followJob } from "../../src/client/follow-job.ts";
import { createLiveClient } from "../../src/client/live-client.ts";
import { type FakeServer, fakeServer, jobRow, snapshotOf } from "./fake-socket.ts";

let server: FakeServer;
let client: Client;

beforeEach(() => {
  vi.useFakeTimers();
  server = fakeServer();
  client = createLiveClient({
    open: server.open,
    rest: { request: async () => ({ status: 200, body: {} }) },
    version: "1",
    random: () => 0,
  });
});
afterEach(() => {
  client.close();
  vi.useRealTimers();
});

const settle = () => vi.advanceTimersByTimeAsync(0);
const chunk = (offset: number, output: string, done = false) => ({
  type: "job_output",
  job: "j1",
  offset,
  next_offset: offset + output.length,
  size: offset + output.length,
  output,
  done,
  incomplete: false,
});

function collect() {
  const got = { text: "", ended: false, error: null as unknown };
  void (async () => {
    try {
      for await (const { output } of followJob(client, "j1")) got.text += output;
      got.ended = true;
    } catch (error) {
      got.error = error;
    }
  })();
  return got;
}

describe("followJob", () => {
  it("reads to the end, and waits for news instead of asking again and again", async () => {
    const socket = await server.next();
    socket.say(snapshotOf(1));
    await settle();
    const got = collect();
    socket.reply("job_follow", { type: "ack" });
    await settle();
    socket.reply("job_output", chunk(0, "one "));
    await settle();
    socket.reply("job_output", chunk(4, ""));
    await settle();
    const asked = socket.sent.filter(({ type }) => type === "job_output").length;
    await vi.advanceTimersByTimeAsync(1_000);
    expect(socket.sent.filter(({ type }) => type === "job_output")).toHaveLength(asked);
    socket.say({ type: "job_more", job: "other", size: 9, running: true });
    socket.say({ type: "job_more", job: "j1", size: 9, running: true });
    await settle();
    socket.reply("job_output", chunk(4, "two "));
    await settle();
    socket.reply("job_output", chunk(8, "", true));
    await settle();
    expect(got).toEqual({ text: "one two ", ended: true, error: null });
    expect(socket.sent.at(-1)).toMatchObject({ type: "job_follow", on: false });
  });

  it("goes on where it was after a lost connection, and follows there again", async () => {
    const socket = await server.next();
    socket.say(snapshotOf(1));
    await settle();
    const got = collect();
    socket.reply("job_follow", { type: "ack" });
    await settle();
    socket.reply("job_output", chunk(0, "one "));
    await settle();
    socket.close(1006);
    await vi.advanceTimersByTimeAsync(250);
    const second = await server.next();
    second.say(snapshotOf(2));
    await settle();
    second.reply("job_follow", { type: "ack" });
    await settle();
    expect(second.sent.at(-1)).toMatchObject({ type: "job_output", offset: 4 });
    second.reply("job_output", chunk(4, "two", true));
    await settle();
    expect(got).toMatchObject({ text: "one two", ended: true });
  });

  it("looks by itself now and then, in case that the news was lost", async () => {
    const socket = await server.next();
    socket.say(snapshotOf(1));
    await settle();
    const got = collect();
    socket.reply("job_follow", { type: "ack" });
    await settle();
    socket.reply("job_output", chunk(0, ""));
    await vi.advanceTimersByTimeAsync(5_000);
    socket.reply("job_output", chunk(0, "late", true));
    await settle();
    expect(got.text).toBe("late");
  });

  it("ends at the job's end also when that is told by the change", async () => {
    const socket = await server.next();
    socket.say(snapshotOf(1));
    await settle();
    const got = collect();
    socket.reply("job_follow", { type: "ack" });
    await settle();
    socket.reply("job_output", chunk(0, ""));
    await settle();
    socket.say({ type: "job_finished", rev: 2, job: { ...jobRow, id: "j1", state: "exited" } });
    await settle();
    socket.reply("job_output", chunk(0, "", true));
    await settle();
    expect(got.ended).toBe(true);
  });

  it.each([
    ["not_found", { type: "error", code: "not_found", message: "No such job." }, "AnswerError"],
    ["the client stops", null, "StoppedError"],
  ])("throws when %s", async (_name, answer, name) => {
    const socket = await server.next();
    socket.say(snapshotOf(1));
    await settle();
    const got = collect();
    if (answer) socket.reply("job_follow", answer);
    else socket.close(4401, "revoked");
    await settle();
    await settle();
    expect(got.error).toMatchObject({ name });
  });
});
