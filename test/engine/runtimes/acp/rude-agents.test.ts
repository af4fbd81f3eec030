import { existsSync, readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import { local } from "../../support/engine-fixture.ts";
import { type Scripted, type ScriptedOptions, scripted } from "./support.ts";

let agent: Scripted;
afterEach(() => agent.dispose());

async function start(options?: ScriptedOptions): Promise<void> {
  agent = await scripted(options);
}
/** The agent goes on: nothing that was before is left. */
async function works(): Promise<void> {
  expect(await agent.run([{ do: "say", text: "I am well." }])).toMatchObject({ outcome: "done" });
  expect(agent.said()).toContain("I am well.");
}
/** A process that is gone, or of which only its parent has not heard yet. */
function isGone(pid: number): boolean {
  if (!existsSync(`/proc/${pid}`)) return true;
  try {
    return readFileSync(`/proc/${pid}/stat`, "latin1").replace(/^.*\) /s, "")[0] === "Z";
  } catch {
    return true;
  }
}
async function untilGone(pids: readonly number[]): Promise<void> {
  while (!pids.every(isGone)) await delay(20);
}
async function pids(word: string): Promise<number[]> {
  const lines = await agent.logLines();
  return lines.filter((line) => line.startsWith(`${word} `)).map((line) => Number(line.split(" ")[1]));
}

describe("an ACP agent that cannot be started", () => {
  it("because there is no such program, says so and how to name it", async () => {
    await start({ spec: { command: "/nowhere/agent" } });
    expect(await agent.run("hello")).toMatchObject({
      outcome: "failed",
      error: expect.stringMatching(/no program \/nowhere\/agent .*\[agents\.scripted\] command/),
    });
  });

  it("because it ends at once, says its status and its last words, without its keys", async () => {
    await start({
      args: ["--exit=3", "--stderr=Error: \u001b[31mbad key key-of-the-test-1234\u001b[0m\n"],
    });
    const { error } = await agent.run("hello");
    expect(error).toBe(
      "Scripted is gone: its process ended (exit status 3). It said last: Error: bad key [secret]. The next prompt starts it again.",
    );
  });

  it("because it speaks another version, says which", async () => {
    await start({ args: ["--version=2"] });
    expect(await agent.run("hello")).toMatchObject({
      outcome: "failed",
      error: expect.stringContaining(
        "speaks version 2 of the Agent Client Protocol; Sallyport speaks version 1",
      ),
    });
  });

  it.each([
    ["never answers", ["--never-answers"]],
    ["hangs when its session opens", ["--hang-on-new"]],
  ])("and %s is cancelled in time, and gone", async (_what, args) => {
    await start({ args });
    const turn = await agent.prompt("hello");
    while ((await agent.logLines()).length < (args[0] === "--hang-on-new" ? 3 : 1)) await delay(10);
    await agent.at.engine.cancel(agent.agent, local);
    expect(await agent.ended(turn)).toMatchObject({ outcome: "cancelled" });
    await untilGone(await pids("started"));
  });
});

describe("a login that an ACP agent wants", () => {
  it("is done by the only method that it has", async () => {
    await start({ args: ["--login=key"] });
    expect(await agent.run("hello")).toMatchObject({ outcome: "done" });
    expect(await agent.logLines()).toContain("authenticate key");
  });

  it("is done by the method of the configuration", async () => {
    await start({ args: ["--login=browser,key"], spec: { authMethod: "key" } });
    expect(await agent.run("hello")).toMatchObject({ outcome: "done" });
    expect(await agent.logLines()).toContain("authenticate key");
  });

  it("is named with its command where several could be meant", async () => {
    await start({ args: ["--login=browser,key"], spec: { loginHint: "scripted login" } });
    const { error } = await agent.run("hello");
    expect(error).toContain("needs a login or a key");
    expect(error).toContain("On the daemon's machine run: scripted login");
    expect((await agent.logLines()).some((line) => line.startsWith("authenticate"))).toBe(false);
  });

  it("is named with the command that keeps a key, of the variable that it reads", async () => {
    await start({ args: ["--login=env:SCRIPTED_API_KEY", "--login-fails"] });
    const { error } = await agent.run("hello");
    expect(error).toContain("sallyport agents key scripted SCRIPTED_API_KEY");
  });

  it("is named when it is wanted in the middle of a session only", async () => {
    await start({
      spec: { loginHint: "scripted login", keyHint: "sallyport agents key scripted" },
    });
    const { error } = await agent.run([{ do: "error", code: -32000, message: "Authentication required" }]);
    expect(error).toContain("On the daemon's machine run: scripted login");
    expect(error).toContain("or give it a key: sallyport agents key scripted, then prompt again.");
  });

  it("is hinted at where its model refuses the key", async () => {
    await start({ spec: { keyHint: "sallyport agents key scripted" } });
    const refused = await agent.run([
      { do: "error", message: "Internal error", data: { details: "401 wrong" } },
    ]);
    expect(refused.error).toBe(
      "Scripted: Internal error: 401 wrong. If its key is wrong, give it another: sallyport agents key scripted",
    );
    const limited = await agent.run([
      { do: "error", message: "Internal error", data: { details: "429 slow" } },
    ]);
    expect(limited.error).not.toContain("key");
  });

  it("that fails says what the agent says", async () => {
    await start({ args: ["--login=key", "--login-fails"] });
    const { outcome, error } = await agent.run("hello");
    expect(outcome).toBe("failed");
    expect(error).toContain("the key is wrong");
    expect(error).toContain("It offers: Log in by key");
  });
});

describe("an ACP agent that misbehaves in a turn", () => {
  it.runIf(process.platform === "linux").each([
    ["output", 1],
    ["input", 0],
  ])("and closes its %s, but lives on, ends the turn and goes on at the next prompt", async (pipe, fd) => {
    await start();
    const end = await agent.run([
      { do: "say", text: "I begin." },
      { do: "closePipe", fd },
    ]);
    expect(end).toMatchObject({
      outcome: "failed",
      error: expect.stringContaining(`it closed its ${pipe}`),
    });
    await works();
  });

  it.each([
    ["dies", [{ do: "exit", code: 7, stderr: "Out of luck\n" }], /exit status 7.*Out of luck/],
    ["is killed", [{ do: "killSelf" }], /ended by signal 9\. The next prompt/],
    [
      "prints garbage without end",
      [{ do: "garbage", times: 2_000 }, { do: "hang" }],
      /no message of the Agent Client/,
    ],
    [
      "sends a line of 100 MB",
      [{ do: "longLine", bytes: 100 * 1024 * 1024 }, { do: "hang" }],
      /more than 16 MiB/,
    ],
  ])(
    "and %s ends the turn with a clear error, the transcript whole, and goes on at the next prompt",
    async (_what, steps, error) => {
      await start();
      const before = process.memoryUsage().rss;
      const end = await agent.run([
        { do: "say", text: "I begin." },
        { do: "call", toolCallId: "c", title: "Work", kind: "other", status: "in_progress" },
        ...steps,
      ]);
      expect(end).toMatchObject({ outcome: "failed", error: expect.stringMatching(error) });
      expect(process.memoryUsage().rss - before).toBeLessThan(150 * 1024 * 1024);
      const types = (await agent.at.transcript(agent.agent)).map(({ type }) => type);
      expect(types.slice(-3)).toEqual(["tool_started", "tool_finished", "turn_finished"]);
      expect(agent.said()).toContain("I begin.");
      await works();
      const lines = await agent.logLines();
      expect(lines.filter((line) => line.startsWith("started"))).toHaveLength(2);
      expect(lines.filter((line) => line.startsWith("load"))).toHaveLength(1);
      expect(agent.said()).not.toContain("again:");
    },
  );

  it("and greets people on stdout is understood all the same", async () => {
    await start({ args: ["--greeting"] });
    await works();
  });

  it("and floods stderr costs nothing", async () => {
    await start({ args: ["--stderr-flood"] });
    await works();
  });

  it("and ends between two turns is started again", async () => {
    await start();
    await agent.run([{ do: "exitLater" }]);
    while (!(await pids("started")).every(isGone)) await delay(20);
    await works();
    expect((await agent.logLines()).filter((line) => line.startsWith("load"))).toHaveLength(1);
  });

  it("and has just ended, untold by a watchdog that does not come to it, is started again", async () => {
    await start();
    await agent.run([]);
    const [first = 0] = await pids("started");
    const watchdog = Number(
      readFileSync(`/proc/${first}/stat`, "latin1")
        .replace(/^.*\) /s, "")
        .split(" ")[1],
    );
    process.kill(watchdog, "SIGSTOP");
    process.kill(first, "SIGKILL");
    while (!isGone(first)) await delay(5);
    await works();
    expect(await pids("started")).toHaveLength(2);
  });

  it("and answers twice has answered", async () => {
    await start();
    await agent.run([{ do: "answerTwice" }, { do: "say", text: "still talking" }]);
    await works();
  });

  it("and answers what nobody asked is not believed", async () => {
    await start();
    await agent.run([
      { do: "raw", message: { jsonrpc: "2.0", id: 999, result: { stopReason: "end_turn" } } },
    ]);
    await works();
  });

  it("and floods the turn with words is held to the bound of a turn, or comes to its end", async () => {
    await start();
    const end = await agent.run([{ do: "flood", kib: 256, times: 320 }]);
    expect(end).toMatchObject({ outcome: "failed", error: expect.stringContaining("64 MiB") });
    await works();
  });

  it("and tells another plan ten thousand times is held to the bound of a turn", async () => {
    await start();
    const end = await agent.run([{ do: "planFlood", times: 10_000 }]);
    expect(end).toMatchObject({ outcome: "failed", error: expect.stringContaining("64 MiB") });
    await works();
  });

  it("and says ten thousand things in a row is heard whole, in messages and fewer pieces", async () => {
    await start();
    expect(await agent.run([{ do: "say", text: "word # ", times: 10_000 }])).toMatchObject({
      outcome: "done",
    });
    const all = Array.from({ length: 10_000 }, (_each, index) => `word ${index} `).join("");
    expect(agent.said()).toBe(all);
    expect(
      agent
        .events("text_delta")
        .map(({ text }) => text)
        .join(""),
    ).toBe(all);
    expect(agent.events("text_delta").length).toBeLessThan(5_000);
  });

  it.each([
    ["never answers and ignores cancel", [{ do: "hang" }]],
    ["spins and cannot even hear it", [{ do: "spin" }]],
  ])("and %s is ended when its turn is cancelled, and resumes", async (_what, steps) => {
    await start();
    const turn = await agent.prompt([{ do: "say", text: "Here I am." }, ...steps]);
    await agent.at.event("text_delta");
    await agent.at.engine.cancel(agent.agent, local);
    expect(await agent.ended(turn)).toMatchObject({ outcome: "cancelled" });
    await works();
    expect((await agent.logLines()).filter((line) => line.startsWith("load"))).toHaveLength(1);
  });

  it("and sends values of every wrong kind is heard as far as it makes sense", async () => {
    await start();
    const strange = [
      null,
      1,
      "x",
      [],
      {},
      { sessionUpdate: 7 },
      { sessionUpdate: "tool_call" },
      { sessionUpdate: "plan", entries: 3 },
    ];
    const chunk = { sessionUpdate: "agent_message_chunk", content: { type: "text", text: 42 } };
    const deep = JSON.parse(`${'{"a":'.repeat(2_000)}1${"}".repeat(2_000)}`);
    await agent.run([
      ...strange.map((update) => ({
        do: "raw",
        message: { jsonrpc: "2.0", method: "session/update", params: { sessionId: "other", update } },
      })),
      ...[...strange, chunk].map((body) => ({ do: "update", body })),
      { do: "call", toolCallId: "d", title: "Deep", kind: "other", status: "completed", rawInput: deep },
      {
        do: "call",
        toolCallId: "e",
        title: 5,
        kind: "strange",
        status: "completed",
        content: [null, { type: "diff" }],
      },
      { do: "request", method: "nothing/known", params: {} },
      { do: "say", text: "Done." },
    ]);
    expect(agent.said()).toContain("nothing/known failed: -32601");
    expect(JSON.stringify(agent.events("tool_started")[0]?.input)).toContain("left out");
    await works();
  });
});

describe("the processes of an ACP agent", () => {
  it("are gone when the agent is closed, though they ignore SIGTERM, the end of input, and left their group", async () => {
    await start({ args: ["--ignore-sigterm", "--ignore-eof", "--leave-children"] });
    await works();
    const all = [...(await pids("started")), ...(await pids("child"))];
    expect(all).toHaveLength(3);
    expect(all.some(isGone)).toBe(false);
    await agent.at.engine.closeAgent(agent.agent, local);
    await untilGone(all);
  });

  it("are gone when the engine has closed", async () => {
    await start({ args: ["--ignore-eof", "--leave-children"] });
    await works();
    await agent.at.engine.close();
    const all = [...(await pids("started")), ...(await pids("child"))];
    expect(all.every(isGone)).toBe(true);
  });

  it("take the children of an agent that died with it", async () => {
    await start({ args: ["--leave-children"] });
    await agent.run([{ do: "exit", code: 1 }]);
    await untilGone(await pids("child"));
  });
});
