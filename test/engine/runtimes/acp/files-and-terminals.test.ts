import { existsSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { local } from "../../support/engine-fixture.ts";
import { type Scripted, type ScriptedOptions, scripted } from "./support.ts";

let agent: Scripted;
afterEach(() => agent.dispose());

async function start(options?: ScriptedOptions): Promise<void> {
  agent = await scripted(options);
}
const inProject = (path: string) => join(agent.at.project, path);

describe("fs/read_text_file", () => {
  it("reads a file of the folder, whole or in lines, and asks nobody", async () => {
    await start();
    await writeFile(inProject("a.txt"), "one\ntwo\nthree\nfour\n");
    await agent.run([
      { do: "read", path: inProject("a.txt") },
      { do: "read", path: inProject("a.txt"), line: 2, limit: 2 },
      { do: "read", path: inProject("a.txt"), limit: 1 },
    ]);
    expect(agent.said()).toBe(
      'read: {"content":"one\\ntwo\\nthree\\nfour\\n"}\nread: {"content":"two\\nthree"}\nread: {"content":"one"}\n',
    );
    expect(agent.events("permission_requested")).toEqual([]);
  });

  it("says that a file is not there by the code that agents know", async () => {
    await start();
    await agent.run([{ do: "read", path: inProject("none.txt") }]);
    expect(agent.said()).toContain("read failed: -32002");
  });

  it("says to an agent that could else make no new file that a missing one is empty, and nothing more of others", async () => {
    await start({ args: ["--name=gemini-cli"] });
    await agent.run([
      { do: "read", path: inProject("none.txt") },
      { do: "read", path: join(agent.folder, "none.txt") },
      { do: "read", path: join(agent.at.home, "none.txt") },
      { do: "read", path: agent.at.project },
    ]);
    expect(agent.said()).toMatch(/^read: \{"content":""\}\n(read failed: -32603.*\n){3}$/);
  });

  it.each([
    ["the home", () => join(agent.at.home, "state.json")],
    ["a path with dots", () => `${agent.at.project}/../../home/state.json`],
    [
      "a link into the home",
      () => {
        symlinkSync(join(agent.at.home, "state.json"), inProject("link"));
        return inProject("link");
      },
    ],
    ["a path out of the folder", () => "/etc/hostname"],
    ["a relative path", () => "a.txt"],
    ["a folder", () => agent.at.project],
    ["a device", () => "/dev/zero"],
    ["the environment of the daemon", () => "/proc/self/environ"],
  ])("off limits: does not read %s, in no mode but autopilot", async (_what, path) => {
    await start();
    writeFileSync(join(agent.at.home, "state.json"), '{"secret":"of the daemon"}');
    await agent.run([{ do: "read", path: path() }]);
    expect(agent.said()).toMatch(/^read failed: -3260[23]/);
    expect(agent.said()).not.toContain("of the daemon");
  });

  it("off limits: does not read the home in autopilot either", async () => {
    await start();
    await agent.mode("autopilot");
    await agent.run([{ do: "read", path: join(agent.at.home, "state.json") }]);
    expect(agent.said()).toContain("read failed: -32603");
  });

  it("reads a file out of the folder once a person allowed the agent to", async () => {
    await start();
    const outside = join(agent.folder, "outside.txt");
    await writeFile(outside, "from outside");
    const turn = await agent.prompt([
      {
        do: "permission",
        toolCall: { toolCallId: "r", title: "Read it", kind: "read", locations: [{ path: outside }] },
      },
      { do: "read", path: outside },
    ]);
    expect(await agent.decide("allow")).toMatchObject({ tool: "read", summary: outside });
    await agent.ended(turn);
    expect(agent.said()).toContain("from outside");
  });
});

describe("fs/write_text_file", () => {
  it("is a call of kind edit that asks in mode ask with the path and the diff, whatever the agent asked before", async () => {
    await start();
    const path = inProject("made/by/agent.txt");
    const turn = await agent.prompt([{ do: "write", path, content: "hello\n" }]);
    const asked = await agent.decide("allow");
    expect(asked).toMatchObject({
      tool: "edit",
      summary: path,
      input: { path, diff: expect.stringContaining("+hello") },
      allow_session: "edit(made/by/agent.txt)",
    });
    await agent.ended(turn);
    expect(readFileSync(path, "utf8")).toBe("hello\n");
    expect(agent.events("tool_finished")).toMatchObject([
      { call_id: asked.call_id, tool: "edit", is_error: false, diff: { path } },
    ]);
  });

  it("asks nobody for a write that changes nothing: some agents tell us of what they wrote themselves", async () => {
    await start();
    await writeFile(inProject("a.txt"), "x\n");
    await agent.run([{ do: "write", path: inProject("a.txt"), content: "x\n" }]);
    expect(agent.events("permission_requested")).toEqual([]);
    expect(agent.said()).not.toContain("failed");
  });

  it("that was denied writes nothing and tells the agent", async () => {
    await start();
    const turn = await agent.prompt([{ do: "write", path: inProject("a.txt"), content: "x" }]);
    await agent.decide("deny");
    await agent.ended(turn);
    expect(existsSync(inProject("a.txt"))).toBe(false);
    expect(agent.said()).toBe("write failed: -32603 Denied.\n");
    expect(agent.events("tool_finished")).toMatchObject([{ is_error: true, output: "Denied." }]);
  });

  it("asks nobody in edits for a plain file, asks for protected ones, and obeys deny rules in autopilot", async () => {
    await start({ rules: { allow: [], deny: ["edit(secret/**)"] } });
    await agent.mode("edits");
    await agent.run([{ do: "write", path: inProject("a.txt"), content: "x" }]);
    expect(agent.events("permission_requested")).toEqual([]);
    const turn = await agent.prompt([{ do: "write", path: inProject(".git/config"), content: "x" }]);
    await agent.decide("deny");
    await agent.ended(turn);
    await agent.mode("autopilot");
    await agent.run([{ do: "write", path: inProject("secret/key"), content: "x" }]);
    expect(existsSync(inProject("secret"))).toBe(false);
    expect(existsSync(inProject(".git"))).toBe(false);
    expect(agent.said()).toContain("Denied by the rule edit(secret/**).");
  });

  it.each(["ask", "edits", "autopilot"] as const)(
    "off limits: writes nothing into the home in mode %s, by no link either",
    async (mode) => {
      await start();
      await agent.mode(mode);
      symlinkSync(agent.at.home, inProject("inside"));
      await agent.run([
        { do: "write", path: join(agent.at.home, "config.toml"), content: "x" },
        { do: "write", path: inProject("inside/config.toml"), content: "x" },
      ]);
      expect(existsSync(join(agent.at.home, "config.toml"))).toBe(false);
      expect(agent.said().match(/write failed: -32603/g)).toHaveLength(2);
      expect(agent.events("permission_requested")).toEqual([]);
    },
  );

  it("judges and shows the file that a link names, not the link", async () => {
    await start();
    await mkdir(inProject(".vscode"));
    symlinkSync(inProject(".vscode"), inProject("docs"));
    await agent.mode("edits");
    const turn = await agent.prompt([{ do: "write", path: inProject("docs/settings.json"), content: "{}" }]);
    expect((await agent.decide("deny")).summary).toBe(inProject(".vscode/settings.json"));
    await agent.ended(turn);
  });

  it("does not overwrite what changed while a person looked at the diff", async () => {
    await start();
    const path = inProject("a.txt");
    await writeFile(path, "shown\n");
    const turn = await agent.prompt([{ do: "write", path, content: "new\n" }]);
    await agent.at.event("permission_requested");
    await writeFile(path, "changed meanwhile\n");
    await agent.decide("allow");
    await agent.ended(turn);
    expect(readFileSync(path, "utf8")).toBe("changed meanwhile\n");
    expect(agent.said()).toContain("changed by somebody else");
  });

  it("attaches to the call that the agent told of", async () => {
    await start();
    const path = inProject("a.txt");
    const turn = await agent.prompt([
      {
        do: "call",
        toolCallId: "e",
        title: "Write a.txt",
        kind: "edit",
        status: "in_progress",
        locations: [{ path }],
      },
      { do: "write", path, content: "x\n" },
      { do: "progress", toolCallId: "e", status: "completed" },
    ]);
    await agent.decide("allow");
    await agent.ended(turn);
    expect(agent.events("tool_started")).toHaveLength(1);
    expect(agent.events("tool_finished")).toMatchObject([{ diff: { path } }]);
  });
});

describe("terminal/*", () => {
  it("runs a command as a call of kind execute that asks, streams and tells its exit", async () => {
    await start();
    const turn = await agent.prompt([{ do: "terminal", command: "printf", args: ["%s\n", "it's", "$HOME"] }]);
    const asked = await agent.decide("allow");
    expect(asked).toMatchObject({
      tool: "bash",
      summary: "printf '%s⟨U+000A⟩' 'it'\\''s' '$HOME'",
    });
    await agent.ended(turn);
    expect(agent.said()).toContain(`"output":"it's\\n$HOME\\n"`);
    expect(agent.said()).toContain('"exitCode":0');
    expect(agent.events("tool_finished")).toMatchObject([
      { call_id: asked.call_id, tool: "bash", output: "it's\n$HOME\n", exit_code: 0, is_error: false },
    ]);
  });

  it("is a job that clients see, and that a person ends while the turn goes on", async () => {
    await start();
    await agent.mode("autopilot");
    const turn = await agent.prompt([{ do: "terminal", command: "echo on; sleep 100" }]);
    await agent.at.event("tool_output");
    const [job] = agent.jobs.list();
    expect(job).toMatchObject({
      agent: agent.agent,
      tab: agent.at.engine.snapshot().workspace.tabs[0]?.id,
      command: "echo on; sleep 100",
      state: "running",
    });
    await agent.jobs.kill(job?.id ?? "");
    expect(await agent.ended(turn)).toMatchObject({ outcome: "done" });
    expect(agent.events("tool_finished")).toMatchObject([{ exit_code: 143, output: "on\n" }]);
    expect(agent.jobs.list()).toMatchObject([{ id: job?.id, state: "killed" }]);
  });

  it("attack: a key of the agent's is neither in the job's command nor left in its output", async () => {
    await start();
    await agent.mode("autopilot");
    await agent.run([{ do: "terminal", command: "echo key-of-the-test-1234", quiet: true }]);
    const [job] = agent.jobs.list();
    expect(job).toMatchObject({ command: "echo [secret]", state: "exited" });
    expect((await agent.jobs.read({ job: job?.id ?? "" })).output).toContain("a key was in it");
  });

  it("carries the mark of jobs, and nothing of the daemon", async () => {
    await start();
    await agent.mode("autopilot");
    await agent.run([
      { do: "terminal", command: "env | grep ^SALLYPORT_ | sed s/=[0-9a-f]*$/=mark/" },
      { do: "environment", name: "SALLYPORT_TOKEN" },
    ]);
    expect(agent.said()).toContain('"output":"SALLYPORT_JOB=mark\\n"');
    expect(agent.said()).toContain("SALLYPORT_TOKEN=unset");
  });

  it("shows variables and another folder as a part of the line, and drops ours", async () => {
    await start();
    await mkdir(inProject("sub dir"));
    const turn = await agent.prompt([
      {
        do: "terminal",
        command: "pwd; echo $A",
        cwd: inProject("sub dir"),
        env: [
          { name: "A", value: "x y" },
          { name: "SALLYPORT_JOB", value: "00000000" },
        ],
      },
    ]);
    expect((await agent.decide("allow")).summary).toBe(
      `cd -- '${inProject("sub dir")}' && export A='x y'; pwd; echo $A`,
    );
    await agent.ended(turn);
    expect(agent.said()).toContain(`${inProject("sub dir")}\\nx y\\n`);
  });

  it("asks whatever the agent asked before, with the command that is run", async () => {
    await start();
    const turn = await agent.prompt([
      {
        do: "permission",
        toolCall: { toolCallId: "c", title: "Run tests", kind: "execute", rawInput: { command: "npm test" } },
      },
      { do: "terminal", command: "rm -rf everything" },
    ]);
    await agent.decide("allow");
    expect(await agent.decide("deny")).toMatchObject({ summary: "rm -rf everything" });
    await agent.ended(turn);
    expect(agent.said()).toContain("terminal refused: Denied.");
  });

  it("obeys deny rules in autopilot", async () => {
    await start({ rules: { allow: [], deny: ["bash(rm *)"] } });
    await agent.mode("autopilot");
    await agent.run([{ do: "terminal", command: "rm", args: ["-rf", "x"] }]);
    expect(agent.said()).toContain("terminal refused: Denied by the rule bash(rm *).");
  });

  it.each([
    ["a folder in the home", () => ({ command: "pwd", cwd: agent.at.home })],
    ["a folder that is not there", () => ({ command: "pwd", cwd: "/nowhere/at/all" })],
    ["a relative folder", () => ({ command: "pwd", cwd: "sub" })],
    ["no command", () => ({ command: "  " })],
    ["a NUL character", () => ({ command: "echo", args: ["a\0b"] })],
    ["a variable that is none", () => ({ command: "pwd", env: [{ name: "A;rm", value: "x" }] })],
  ])("refuses %s", async (_what, fields) => {
    await start();
    await agent.mode("autopilot");
    await agent.run([{ do: "terminal", ...fields() }]);
    expect(agent.said()).toContain("terminal refused");
    expect(agent.events("tool_output")).toEqual([]);
  });

  it("keeps the newest output within the agent's own bound, cut at a character", async () => {
    await start();
    await agent.mode("autopilot");
    await agent.run([{ do: "terminal", command: "printf 'aääää'", outputByteLimit: 5 }]);
    expect(agent.said()).toContain('"output":"ää","truncated":true');
  });

  it("is killed with all its processes when the agent says so, and keeps its output", async () => {
    await start();
    await agent.mode("autopilot");
    await agent.run([
      { do: "terminal", command: "echo begun; sleep 100", wait: false },
      { do: "pause", ms: 300 },
      { do: "kill" },
      { do: "output" },
    ]);
    expect(agent.said()).toContain('output: {"output":"begun\\n","truncated":false,"exitStatus":{');
    expect(agent.events("tool_finished")).toMatchObject([
      { is_error: true, output: expect.stringContaining("begun") },
    ]);
  });

  it("ends with the turn", async () => {
    await start();
    await agent.mode("autopilot");
    await agent.run([
      { do: "terminal", command: "sleep 1000", wait: false },
      { do: "say", text: "Bye." },
    ]);
    expect(agent.events("tool_finished")).toMatchObject([{ is_error: true }]);
  });

  it("opens a bounded number for an agent that wants a thousand", async () => {
    await start();
    await agent.mode("autopilot");
    await agent.run([{ do: "terminals", times: 1_000, command: "sleep 1000" }]);
    expect(agent.said()).toBe("opened 16\n");
  });

  it("is shown in a call of the agent, which ends with what it printed", async () => {
    await start();
    await agent.mode("autopilot");
    await agent.run([
      { do: "call", toolCallId: "t", title: "Run the tests", kind: "execute", status: "in_progress" },
      { do: "terminal", command: "echo passed", release: false, quiet: true },
      { do: "showTerminal", toolCallId: "t" },
      { do: "progress", toolCallId: "t", status: "completed" },
    ]);
    expect(agent.events("tool_finished").map(({ output }) => output)).toEqual(["passed\n", "passed\n"]);
  });

  it("prints into the call of the agent that names this very command", async () => {
    await start();
    await agent.mode("autopilot");
    await agent.run([
      {
        do: "call",
        toolCallId: "t",
        title: "Run the tests",
        kind: "execute",
        status: "in_progress",
        rawInput: { command: "echo passed" },
      },
      { do: "terminal", command: "echo passed" },
      { do: "progress", toolCallId: "t", status: "completed" },
    ]);
    expect(agent.events("tool_finished")).toMatchObject([{ output: "passed\n", exit_code: 0 }]);
  });

  it("makes room for new ones when the agent never releases any", async () => {
    await start();
    await agent.mode("autopilot");
    await agent.run(
      Array.from({ length: 70 }, () => ({ do: "terminal", command: "true", release: false, quiet: true })),
    );
    expect(agent.events("tool_finished").filter(({ is_error }) => !is_error)).toHaveLength(70);
  });

  it("is refused when no turn runs", async () => {
    await start();
    await agent.mode("autopilot");
    const turn = await agent.prompt([
      { do: "say", text: "waiting" },
      { do: "untilCancelled" },
      { do: "terminal", command: "touch made" },
      { do: "write", path: inProject("written"), content: "x" },
    ]);
    await agent.at.event("text_delta");
    await agent.at.engine.cancel(agent.agent, local);
    expect(await agent.ended(turn)).toMatchObject({ outcome: "cancelled" });
    expect(await agent.logLines()).toEqual(
      expect.arrayContaining([
        expect.stringContaining("terminal refused"),
        expect.stringContaining("write failed"),
      ]),
    );
    expect(existsSync(inProject("made"))).toBe(false);
    expect(existsSync(inProject("written"))).toBe(false);
  });
});
