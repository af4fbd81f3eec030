import { setImmediate } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import { decisionOfKey, requestText } from "../../src/cli/ask-approval.ts";
import type { PermissionRequest } from "../../src/protocol/objects.ts";
import { daemonFileOf, type FakeCommand, homeWith, startFakeDaemon } from "./fake-daemon.ts";
import { cli, startCli } from "./fake-io.ts";

const undo: (() => Promise<void>)[] = [];
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
  summary: "echo hi",
  input: { command: "echo hi" },
  cwd: "/srv/api",
  allow_session: "bash(echo *)",
  digest: "d1",
  at: "2026-01-01T00:00:00.000Z",
};

interface Play {
  readonly commands: FakeCommand[];
  readonly home: string;
}

/** A daemon that asks before it runs, and finishes its turn once it was answered. */
async function playTurn(options: { outcome?: string; asks?: boolean } = {}): Promise<Play> {
  const commands: FakeCommand[] = [];
  const event = (body: object): object => ({
    type: "event",
    rev: 2,
    workspace: "w1",
    tab: "t1",
    event: { agent: "a1", seq: 1, at: "2026-01-01T00:00:00.000Z", ...body },
  });
  const daemon = await startFakeDaemon({
    command(command, send) {
      commands.push(command);
      const { client_ref, type } = command;
      if (type === "prompt") {
        // Another agent's words, and our own events before the reply, as the protocol allows.
        send({
          ...event({ type: "text_delta", message: "m0", text: "foreign" }),
          event: { agent: "a2", type: "text_delta", message: "m", text: "foreign" },
        });
        send(event({ type: "turn_started", turn: "u1" }));
        send({
          type: "ack",
          client_ref,
          request_id: command.request_id,
          status: "accepted",
          agent: "a1",
          turn: "u1",
        });
        if (options.asks !== false) {
          send(event({ type: "permission_requested", ...request }));
          return;
        }
      } else if (type === "approve") {
        send({ type: "ack", client_ref });
        send(
          event({
            type: "permission_resolved",
            request_id: "r1",
            allowed: true,
            decision: command.decision,
            by: { device: null, name: "local" },
          }),
        );
      } else if (type === "cancel") {
        send({ type: "ack", client_ref });
        send(event({ type: "turn_finished", turn: "u1", outcome: "cancelled" }));
        return;
      }
      send(event({ type: "tool_started", call_id: "c1", tool: "bash", summary: "echo hi", input: {} }));
      send(event({ type: "tool_output", call_id: "c1", text: "hi\u001b]0;x\u0007\n" }));
      send(
        event({
          type: "tool_finished",
          call_id: "c1",
          tool: "bash",
          output: "hi\n",
          is_error: false,
          millis: 1,
          exit_code: 0,
        }),
      );
      send(event({ type: "turn_finished", turn: "u1", outcome: options.outcome ?? "done" }));
    },
  });
  const { home, remove } = await homeWith(daemonFileOf(daemon.url));
  undo.push(daemon.close, remove);
  return { commands, home };
}

describe("sallyport prompt", () => {
  it.each([
    ["y", "allow"],
    ["s", "allow_session"],
    ["n", "deny"],
  ])("answers the request with the key %s", async (key, decision) => {
    const { commands, home } = await playTurn();
    const running = startCli(["prompt", "echo hi"], { home, hasKeyboard: true });
    await running.shows("y allow");
    running.type(key);
    const ran = await running.done;
    expect(ran.exitCode).toBe(0);
    expect(commands.find(({ type }) => type === "approve")).toMatchObject({
      request_id: "r1",
      decision,
      digest: "d1",
    });
    expect(ran.stderr).toContain("  | echo hi\n");
    expect(ran.stderr).toContain("s allow bash(echo *) for this session");
  });

  it("shows the output once, without what could steer a terminal, and nothing of other agents", async () => {
    const { home } = await playTurn({ asks: false });
    const ran = await cli(["prompt", "echo", "hi"], { home });
    expect(ran).toMatchObject({ exitCode: 0, stdout: "hi\n" });
  });

  it("keys typed ahead of the question allow nothing", async () => {
    const { commands, home } = await playTurn();
    const running = startCli(["prompt", "echo hi"], { home, hasKeyboard: true });
    running.type("yyy\n");
    await running.shows("y allow");
    // What the terminal kept arrives by now at the latest.
    for (let round = 0; round < 4; round++) await setImmediate();
    running.type("n");
    await running.done;
    expect(commands.filter(({ type }) => type === "approve")).toMatchObject([{ decision: "deny" }]);
  });

  it("other keys answer nothing", async () => {
    const { commands, home } = await playTurn();
    const running = startCli(["prompt", "echo hi"], { home, hasKeyboard: true });
    await running.shows("y allow");
    running.type("x \n\u001b[A");
    running.type("y");
    await running.done;
    expect(commands.filter(({ type }) => type === "approve")).toHaveLength(1);
  });

  it("without a keyboard it says where to answer, and waits", async () => {
    const { commands, home } = await playTurn();
    const running = startCli(["prompt", "echo hi"], { home });
    await running.shows("answer on a paired device");
    expect(commands.some(({ type }) => type === "approve")).toBe(false);
    running.signal("SIGINT");
    expect((await running.done).exitCode).toBe(130);
    expect(commands.at(-1)).toMatchObject({ type: "cancel", agent: "a1" });
  });

  it("Ctrl-C as a key cancels the turn", async () => {
    const { home } = await playTurn();
    const running = startCli(["prompt", "echo hi"], { home, hasKeyboard: true });
    await running.shows("y allow");
    running.type("\u0003");
    expect((await running.done).exitCode).toBe(130);
  });

  it.each(["failed", "cancelled"])("returns 1 when the turn is %s", async (outcome) => {
    const { home } = await playTurn({ outcome, asks: false });
    expect((await cli(["prompt", "x"], { home })).exitCode).toBe(1);
  });

  it("prints one event a line with --json and nothing else", async () => {
    const { home } = await playTurn({ asks: false });
    const ran = await cli(["prompt", "--json", "x"], { home });
    const types = ran.stdout
      .trimEnd()
      .split("\n")
      .map((line) => (JSON.parse(line) as { type: string }).type);
    expect(types).toEqual(["turn_started", "tool_started", "tool_output", "tool_finished", "turn_finished"]);
  });

  it("refuses an empty prompt and two places at once as wrong usage", async () => {
    const { home } = await playTurn();
    expect((await cli(["prompt", " "], { home })).exitCode).toBe(2);
    expect((await cli(["prompt", "--agent", "a", "--tab", ".", "x"], { home })).exitCode).toBe(2);
  });
});

describe("what is approved", () => {
  it("is shown whole, with hidden characters made visible", () => {
    const command = `echo ok \u202e; rm -rf ~\n\tsecond line\u200b`;
    const text = requestText({ ...request, input: { command }, summary: "list files\u001b[2J" });
    expect(text).toContain("  | echo ok ⟨U+202E⟩; rm -rf ~\n  | ⟨U+0009⟩second line⟨U+200B⟩");
    expect(text).toContain("(in the agent's own words: list files⟨U+001B⟩[2J)");
  });

  it("is the whole input where it is more than a command or a path", () => {
    expect(requestText({ ...request, input: { path: "/a", content: "x" } })).toContain(
      `{"path":"/a","content":"x"}`,
    );
  });

  it("is not allowed for the session where the daemon offers no rule", () => {
    expect(decisionOfKey("s", { ...request, allow_session: null })).toBeNull();
  });
});
