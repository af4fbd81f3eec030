import { afterEach, describe, expect, it } from "vitest";
import type { PermissionRequest } from "../../../src/protocol/objects.ts";
import { agentRow, snapshotOf, tabRow } from "../../client/fake-socket.ts";
import { daemonFileOf, type FakeCommand, homeWith, startFakeDaemon } from "../fake-daemon.ts";
import { cli, startCli } from "../fake-io.ts";

const undo: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0)) await step();
});

const request: PermissionRequest = {
  request_id: "r1",
  workspace: "w1",
  tab: "t1",
  agent: "a1",
  turn: "u1",
  call_id: "c1",
  tool: "bash",
  summary: "make",
  input: { command: "make" },
  cwd: "/srv/api",
  allow_session: null,
  digest: "d1",
  at: "2026-01-01T00:00:00.000Z",
};
const question = {
  request_id: "q1",
  workspace: "w1",
  tab: "t1",
  agent: "a2",
  turn: "u1",
  call_id: null,
  subagent: "reviewer",
  questions: [
    { prompt: "Which store?", options: [{ label: "sqlite", description: null }], multiple: false },
    { prompt: "Why?", options: [], multiple: false },
  ],
  at: "2026-01-01T00:00:00.000Z",
};

/** An agent that asks what the prompt names ("make" asks for approval, "ask" asks a question), says so and is done. */
async function play() {
  const commands: FakeCommand[] = [];
  let [rev, seq, turns, jobs] = [1, 100, 0, 0];
  const daemon = await startFakeDaemon({
    snapshot: {
      ...snapshotOf(1),
      workspace: {
        id: "w1",
        name: "main",
        active_tab: "t1",
        tabs: [
          { ...tabRow, active_agent: "a1", agents: [agentRow, { ...agentRow, id: "a2", parent: "a1" }] },
        ],
      },
    },
    answer: ({ path }) => {
      if (path === "/api/daemon") return { body: {} };
      if (path.startsWith("/api/sessions/"))
        return {
          body: {
            records: [
              {
                agent: "a1",
                seq: 1,
                at: "",
                type: "user_message",
                turn: "u0",
                text: "earlier words",
                attachments: [],
                by: { device: "d1", name: "Pixel" },
              },
              {
                agent: "a1",
                seq: 2,
                at: "",
                type: "assistant_message",
                message: { id: "m0", text: "earlier answer" },
              },
            ],
            before: null,
            seq: 50,
            streaming: null,
          },
        };
      return null;
    },
    command(command, send) {
      commands.push(command);
      const { client_ref, type } = command;
      const event = (body: object): void => {
        rev += 1;
        seq += 1;
        send({
          type: "event",
          rev,
          workspace: "w1",
          tab: "t1",
          event: { agent: "a1", seq, at: "", ...body },
        });
      };
      const finish = (text: string): void => {
        event({ type: "assistant_message", message: { id: `m${seq}`, text } });
        event({ type: "turn_finished", turn: `u${turns}`, outcome: "done" });
      };
      switch (type) {
        case "prompt": {
          turns += 1;
          event({ type: "turn_started", turn: `u${turns}`, request_id: command.request_id });
          send({
            type: "ack",
            client_ref,
            request_id: command.request_id,
            status: "accepted",
            workspace: "w1",
            tab: "t1",
            agent: "a1",
            turn: `u${turns}`,
          });
          if (command.text === "make") event({ type: "permission_requested", ...request });
          else if (command.text === "ask") event({ type: "question_asked", ...question });
          else if (command.text === "ask twice") {
            event({ type: "permission_requested", ...request });
          } else finish(`did ${String(command.text)}`);
          return;
        }
        case "approve":
          if (
            command.digest === "d1" &&
            command.decision === "deny" &&
            jobs++ === 0 &&
            commands.some(({ text }) => text === "ask twice")
          ) {
            send({ type: "error", client_ref, code: "conflict", reason: "changed", message: "It changed." });
            return;
          }
          send({ type: "ack", client_ref });
          event({
            type: "permission_resolved",
            request_id: "r1",
            allowed: command.decision !== "deny",
            decision: command.decision,
            by: { device: null, name: "local" },
          });
          finish("made");
          return;
        case "answer":
          send({ type: "ack", client_ref });
          event({
            type: "question_resolved",
            request_id: "q1",
            cancelled: command.cancelled === true,
            by: null,
            agent: "a2",
          });
          finish("asked");
          return;
        case "cancel":
          send({ type: "ack", client_ref });
          event({ type: "turn_finished", turn: `u${turns}`, outcome: "cancelled" });
          return;
        case "agent_start":
          if (command.runtime === "magic")
            send({ type: "error", client_ref, code: "invalid_field", message: "There is no such runtime." });
          else send({ type: "ack", client_ref, tab: "t1", agent: "a1" });
          return;
        case "job_list":
          send({ type: "jobs", client_ref, jobs: [] });
          return;
        case "mode":
          send({ type: "ack", client_ref });
          return;
        default:
          send({ type: "error", client_ref, code: "not_found", message: "No such thing." });
      }
    },
  });
  const { home, remove } = await homeWith(daemonFileOf(daemon.url));
  undo.push(daemon.close, remove);
  const sent = (type: string): FakeCommand[] => commands.filter((command) => command.type === type);
  return { home, sent };
}

describe("sallyport attach with lines piped in", () => {
  it("shows what was said before, sends line after line, each when the one before is done, and ends", async () => {
    const { home, sent } = await play();
    const ran = await cli(["attach"], { home, input: "one\ntwo\n/jobs\n" });
    expect(ran.exitCode).toBe(0);
    expect(ran.stdout).toBe("earlier answer\ndid one\ndid two\n");
    expect(ran.stderr).toMatch(/\[Pixel\] earlier words[\s\S]*No jobs/);
    expect(sent("prompt").map(({ text, queue, agent }) => [text, queue, agent])).toEqual([
      ["one", undefined, "a1"],
      ["two", undefined, "a1"],
    ]);
  });

  it("begins an agent of the runtime and model that were chosen", async () => {
    const { home, sent } = await play();
    const ran = await cli(["attach", "--runtime", "qwen", "--model", "big"], { home, input: "one\n" });
    expect(ran.exitCode).toBe(0);
    expect(sent("agent_start")).toMatchObject([{ tab: "t1", runtime: "qwen", model: "big" }]);
    expect(sent("prompt")).toMatchObject([{ agent: "a1", text: "one" }]);
  });

  it("begins nothing with a runtime that there is not, or beside a named agent", async () => {
    const { home, sent } = await play();
    const ran = await cli(["attach", "--runtime", "magic"], { home, input: "one\n" });
    expect(ran.stderr).toContain("There is no such runtime.");
    expect(ran.exitCode).not.toBe(0);
    const both = await cli(["attach", "--runtime", "qwen", "--agent", "a1"], { home, input: "one\n" });
    expect(both.exitCode).toBe(2);
    expect(sent("prompt")).toEqual([]);
  });

  it("answers with /allow, and with the digest of what was shown", async () => {
    const { home, sent } = await play();
    const ran = await cli(["attach"], { home, input: "make\n/allow\nafter\n" });
    expect(ran.stdout).toContain("made\ndid after\n");
    expect(sent("approve")).toMatchObject([{ request_id: "r1", decision: "allow", digest: "d1" }]);
  });

  it("attack by input: a line that is no command allows nothing, whatever it says", async () => {
    const { home, sent } = await play();
    const running = startCli(["attach"], { home, input: "make\ny\nyes\n" });
    await running.shows("| make");
    running.signal("SIGINT");
    const ran = await running.done;
    expect(sent("approve")).toEqual([]);
    expect(ran.exitCode).toBe(1);
    // They were prompts, once the turn before them had ended.
    expect(sent("prompt").map(({ text }) => text)).toEqual(["make", "y", "yes"]);
  });

  it("answers the questions of a subagent with numbers and words", async () => {
    const { home, sent } = await play();
    const ran = await cli(["attach"], { home, input: "ask\n1\nbecause it is small\n" });
    expect(ran.exitCode).toBe(0);
    expect(ran.stderr).toContain("reviewer asks: Which store?");
    expect(sent("answer")).toMatchObject([{ request_id: "q1", answers: ["sqlite", "because it is small"] }]);
  });

  it("closes a question with /skip", async () => {
    const { home, sent } = await play();
    await cli(["attach"], { home, input: "ask\n/skip\n" });
    expect(sent("answer")).toMatchObject([{ request_id: "q1", cancelled: true }]);
  });

  it("shows a request again whose call has changed", async () => {
    const { home, sent } = await play();
    const ran = await cli(["attach"], { home, input: "ask twice\n/deny\n/allow\n" });
    expect(ran.stderr.match(/\| make/g)).toHaveLength(2);
    expect(sent("approve").map(({ decision }) => decision)).toEqual(["deny", "allow"]);
  });

  it("says what a slip is, and sends nothing", async () => {
    const { home, sent } = await play();
    const ran = await cli(["attach"], { home, input: "/alow\n/mode fast\n/agent 7\n/allow\n" });
    expect(ran.stderr).toMatch(/no \/alow[\s\S]*no mode "fast"[\s\S]*no such agent[\s\S]*Nothing waits/);
    expect([...sent("prompt"), ...sent("mode"), ...sent("approve")]).toEqual([]);
  });

  it("goes on after a command that is refused, and tells by its exit code", async () => {
    const { home, sent } = await play();
    const ran = await cli(["attach"], { home, input: "/job nope\none\n" });
    expect(ran).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("No such thing.") });
    expect(sent("prompt")).toHaveLength(1);
  });

  it("prints one event a line with --json and nothing else", async () => {
    const { home } = await play();
    const ran = await cli(["attach", "--json"], { home, input: "one\n" });
    const types = ran.stdout
      .trimEnd()
      .split("\n")
      .map((line) => (JSON.parse(line) as { type: string }).type);
    expect(types).toEqual(["turn_started", "assistant_message", "turn_finished"]);
  });

  it.each([[["--agent", "a1", "--tab", "."]], [["--agent", "a1", "--new"]]])(
    "refuses %s as wrong usage",
    async (words) => {
      const { home } = await play();
      expect((await cli(["attach", ...words], { home })).exitCode).toBe(2);
    },
  );

  it("says when the agent is on no tab", async () => {
    const { home } = await play();
    expect(await cli(["attach", "--agent", "nope"], { home })).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining("sallyport sessions"),
    });
  });
});

describe("sallyport attach on a terminal", () => {
  let nowMs = 0;
  const now = (): number => {
    nowMs += 1_000; // Every key comes after a pause.
    return nowMs;
  };

  it("sends a typed line, answers by key, cancels and leaves", async () => {
    const { home, sent } = await play();
    const running = startCli(["attach"], { home, hasKeyboard: true, isTerminal: true, now });
    await running.shows("> ");
    running.type("make\r");
    await running.shows("y allow");
    running.type("y");
    await running.shows("made");
    running.type("make\r");
    await running.shows("/srv/api:\n  | make\n  y allow   n deny\n");
    running.type("/quit\r");
    expect((await running.done).exitCode).toBe(0);
    expect(sent("approve")).toMatchObject([{ decision: "allow" }]);
  });

  it("Ctrl-C cancels the turn; where none runs it leaves with 130", async () => {
    const { home, sent } = await play();
    const running = startCli(["attach"], { home, hasKeyboard: true, isTerminal: true, now });
    await running.shows("> ");
    running.type("make\r");
    await running.shows("y allow");
    running.type("\u0003");
    await running.shows("was cancelled");
    running.type("\u0003");
    expect((await running.done).exitCode).toBe(130);
    expect(sent("cancel")).toHaveLength(1);
  });

  it("takes a typed answer to a question, and Ctrl-D to leave", async () => {
    const { home, sent } = await play();
    const running = startCli(["attach"], { home, hasKeyboard: true, isTerminal: true, now });
    await running.shows("> ");
    running.type("ask\r");
    await running.shows("Which store?");
    running.type("1\r");
    await running.shows("Why?");
    running.type("smalll\u007f\r");
    await running.shows("asked");
    running.type("\u0004");
    expect((await running.done).exitCode).toBe(0);
    expect(sent("answer")).toMatchObject([{ answers: ["sqlite", "small"] }]);
  });
});
