import { appendFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { newId } from "../../../src/lib/ids.ts";
import { cleanUp, type JobsUnderTest, openJobs } from "../../engine/jobs/harness.ts";
import { local } from "../../engine/support/engine-fixture.ts";
import type { MewSocket } from "../../helpers/mew-socket.ts";
import type { Message } from "../../helpers/socket.ts";
import { type MewApp, newSession, startMew } from "./harness.ts";

let app: MewApp;
let under: JobsUnderTest;
let clockMs: number;
beforeEach(async () => {
  under = await openJobs();
  clockMs = 0;
  app = await startMew({
    engine: { jobs: under.jobs, judgeCall: () => ({ verdict: "allow", by: "test" }) },
    // Time goes fast enough for nobody to be over the rate.
    now: () => (clockMs += 20),
  });
});
afterEach(async () => {
  await app.close();
  await cleanUp();
});

let requests = 0;
const read = (socket: MewSocket, session_id: string, job_id: string, offset: number): Promise<Message> => {
  requests += 1;
  const request_id = `r${requests}`;
  socket.send({ type: "ReadJobOutput", session_id, job_id, request_id, offset });
  return socket.waitFor((message) => message.request_id === request_id && message.job_id === job_id);
};

/** Reads from `offset` until nothing more comes, as a client does that appends what it gets. */
async function readAll(
  socket: MewSocket,
  session: string,
  job: string,
  from = 0,
): Promise<{ text: string; offset: number; last: Message }> {
  let [text, offset] = ["", from];
  for (;;) {
    const last = await read(socket, session, job, offset);
    expect(last).toMatchObject({ type: "JobOutput", session_id: session, job_id: job, offset });
    expect(Buffer.byteLength(last.output)).toBeLessThanOrEqual(65_536);
    text += last.output;
    if (last.next_offset === offset) return { text, offset, last };
    offset = last.next_offset;
  }
}

const agentOf = (index = 0) => app.engine.snapshot().workspace.tabs[0]?.agents[index]?.id ?? "";
const logOf = (id: string) => join(under.folder, `${id}.log`);

async function jobOf(command: string, agent: string | null): Promise<string> {
  const [tab] = app.engine.snapshot().workspace.tabs;
  const place = { workspace: tab?.workspace ?? null, tab: tab?.id ?? null, agent };
  return (await under.jobs.start({ command, cwd: app.fixture.project, ...place })).id;
}

const bytes = fc.oneof(
  fc.uint8Array({ maxLength: 300 }).map((raw) => Buffer.from(raw)),
  fc.string({ unit: "grapheme", maxLength: 60 }).map((text) => Buffer.from(text)),
  fc.constant(Buffer.from("äöü€😀".repeat(9_000))),
);

describe("ReadJobOutput", () => {
  it("gives all bytes once and whole, whatever is written in whatever pieces while it runs", async () => {
    const socket = await app.mew();
    const session = await newSession(socket);
    const job = await jobOf("sleep 1000", agentOf());
    let offset = 0;
    await fc.assert(
      fc.asyncProperty(bytes, fc.array(fc.nat(), { maxLength: 4 }), async (raw, cuts) => {
        const whole = Buffer.concat([raw, Buffer.from("\n")]);
        const at = [0, ...cuts.map((cut) => cut % (whole.length + 1)).sort((a, b) => a - b), whole.length];
        let text = "";
        for (let n = 1; n < at.length; n += 1) {
          await appendFile(logOf(job), whole.subarray(at[n - 1], at[n]));
          const part = await readAll(socket, session, job, offset);
          text += part.text;
          offset = part.offset;
          expect(part.last).toMatchObject({ done: false, incomplete: false });
        }
        expect(text).toBe(whole.toString("utf8"));
      }),
      { numRuns: 60 },
    );
  });

  it("gives all of a job that has ended, done with its last chunk, and refuses every other offset cleanly", async () => {
    const socket = await app.mew();
    const session = await newSession(socket);
    await fc.assert(
      fc.asyncProperty(bytes, fc.nat(), async (raw, rawOffset) => {
        await writeFile(join(app.fixture.project, "raw"), raw);
        const job = await jobOf("cat raw", agentOf());
        expect((await under.ended(job)).bytes).toBe(raw.length);
        const { text, offset, last } = await readAll(socket, session, job);
        expect(text).toBe(raw.toString("utf8"));
        expect(offset).toBe(raw.length);
        expect(last).toMatchObject({ output: "", done: true, incomplete: false });
        const anywhere = await read(socket, session, job, rawOffset % (raw.length + 2));
        if (anywhere.type === "JobOutput") {
          expect(anywhere.next_offset).toBeGreaterThanOrEqual(anywhere.offset);
          expect(raw.toString("utf8")).toContain(anywhere.output.replace(/^\uFFFD+|\uFFFD+$/g, ""));
        } else
          expect(anywhere).toMatchObject({
            type: "JobOutputError",
            message: expect.stringMatching(/offset/),
          });
      }),
      { numRuns: 15 },
    );
  });

  it.each([-1, 1e300, 2 ** 53, 4.5, "0", null, 1_000_000])("refuses the offset %j", async (offset) => {
    const socket = await app.mew();
    const session = await newSession(socket);
    const job = await jobOf("printf äöü", agentOf());
    await under.ended(job);
    expect(await read(socket, session, job, offset as number)).toMatchObject({
      type: "JobOutputError",
      session_id: session,
      job_id: job,
      message: expect.stringMatching(/offset/),
    });
    expect((await read(socket, session, job, 1)).message).toMatch(/inside a character/);
    expect(await read(socket, session, job, 6)).toMatchObject({ output: "", next_offset: 6, done: true });
  });

  it("says that output is incomplete where members of the job outlive it", async () => {
    const socket = await app.mew();
    const session = await newSession(socket);
    const job = await jobOf("printf early; sleep 4 & exit 0", agentOf());
    await under.ended(job);
    const { text, last } = await readAll(socket, session, job);
    expect(text).toBe("early");
    expect(last).toMatchObject({ done: true, incomplete: true });
  });

  it("shows a session the jobs of its agent and those of clients in its tab, and those of no other", async () => {
    const socket = await app.mew();
    const [one, two] = [await newSession(socket), await newSession(socket)];
    const own = await jobOf("echo own", agentOf(0));
    const shared = await jobOf("echo shared", null);
    const other = await app.engine.createTab({ type: "tab_create", cwd: "/tmp" }, local);
    const foreign = (
      await under.jobs.start({ command: "echo x", cwd: "/tmp", workspace: null, tab: other.id, agent: null })
    ).id;
    for (const job of [own, shared, foreign]) await under.ended(job);
    expect((await read(socket, one, own, 0)).output).toBe("own\n");
    for (const session of [one, two])
      expect((await read(socket, session, shared, 0)).output).toBe("shared\n");
    const refused = { type: "JobOutputError", message: "This session has no such job." };
    expect(await read(socket, two, own, 0)).toMatchObject({ ...refused, session_id: two, job_id: own });
    expect(await read(socket, one, foreign, 0)).toMatchObject(refused);
    for (const job of ["ffffffff", "../../daemon", "3FA9C210"])
      expect(await read(socket, one, job, 0)).toMatchObject({ ...refused, job_id: job });
    for (const session of [newId(), "nonsense"])
      expect(await read(socket, session, own, 0)).toMatchObject({
        type: "JobOutputError",
        session_id: session,
      });
  });

  it("needs no attached session, and tells jobs as they come and go", async () => {
    const socket = await app.mew();
    const session = await newSession(socket);
    socket.send({ type: "Prompt", text: "echo from a job; sleep 60 &" });
    const update = await socket.waitFor((message) => message.type === "JobUpdate");
    expect(update).toEqual({
      type: "JobUpdate",
      job_id: update.job_id,
      command: "echo from a job; sleep 60",
      state: "running",
    });
    const other = await app.mew();
    await other.ask({ type: "AttachSession", session_id: session }, "SessionHistory");
    expect(await other.waitFor((message) => message.type === "JobUpdate")).toEqual(update);
    const unattached = await app.mew();
    const until = async (): Promise<Message> => {
      const chunk = await read(unattached, session, update.job_id, 0);
      return chunk.output === "" ? until() : chunk;
    };
    expect((await until()).output).toBe("from a job\n");
    await under.jobs.kill(update.job_id);
    for (const each of [socket, other])
      await each.waitFor((message) => message.type === "JobUpdate" && message.state === "cancelled");
  });
});
