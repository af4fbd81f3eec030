import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { local } from "../../support/engine-fixture.ts";
import { type Scripted, type ScriptedOptions, type Step, scripted } from "./support.ts";

let agent: Scripted;
afterEach(() => agent.dispose());

async function start(options?: ScriptedOptions): Promise<void> {
  agent = await scripted(options);
}

const execute = (command: string): Step => ({
  do: "permission",
  toolCall: {
    toolCallId: "c1",
    title: "Something harmless",
    kind: "execute",
    status: "pending",
    rawInput: { command },
  },
});
const selected = (optionId: string) => `permission {"outcome":"selected","optionId":"${optionId}"}`;
const cancelled = 'permission {"outcome":"cancelled"}';

describe("a permission request of an ACP agent", () => {
  it.each([
    ["allow", "once"],
    ["allow_session", "once"],
    ["deny", "no"],
  ] as const)("that is answered with %s tells the agent %s, never for always", async (decision, option) => {
    await start();
    const turn = await agent.prompt([execute("wc -l notes")]);
    const asked = await agent.decide(decision);
    expect(asked).toMatchObject({
      tool: "bash",
      summary: "wc -l notes",
      input: { command: "wc -l notes", agent_title: "Something harmless" },
      allow_session: "bash(wc *)",
      note: expect.stringContaining("inside its own process"),
    });
    expect(await agent.ended(turn)).toMatchObject({ outcome: "done" });
    expect(agent.said()).toContain(selected(option));
    expect(agent.events("tool_started")).toMatchObject([{ call_id: asked.call_id, summary: "wc -l notes" }]);
  });

  it("is remembered for the session by us, and by us alone", async () => {
    await start();
    const turn = await agent.prompt([execute("wc -l notes"), execute("wc -c other")]);
    await agent.decide("allow_session");
    expect(await agent.ended(turn)).toMatchObject({ outcome: "done" });
    expect(agent.events("permission_requested")).toHaveLength(1);
    expect(agent.said().match(/"optionId":"once"/g)).toHaveLength(2);
    expect(agent.said()).not.toContain("always");
  });

  it("says only the first time what the rules do not reach", async () => {
    await start();
    const turn = await agent.prompt([execute("make a"), execute("make b")]);
    expect((await agent.decide("allow")).note).toBeDefined();
    expect((await agent.decide("allow")).note).toBeUndefined();
    await agent.ended(turn);
  });

  it("is answered by a deny rule without asking anybody", async () => {
    await start({ rules: { allow: [], deny: ["bash(rm *)"] } });
    expect(await agent.run([execute("rm -rf /")])).toMatchObject({ outcome: "done" });
    expect(agent.events("permission_requested")).toEqual([]);
    expect(agent.said()).toContain(selected("no"));
    expect(agent.events("tool_finished")).toMatchObject([
      { is_error: true, output: "Denied by the rule bash(rm *)." },
    ]);
  });

  it("is answered by the mode: edits in edits, everything in autopilot", async () => {
    await start();
    const edit: Step = {
      do: "permission",
      toolCall: {
        toolCallId: "e1",
        title: "Edit a.txt",
        kind: "edit",
        content: [{ type: "diff", path: "a.txt", oldText: null, newText: "x\n" }],
      },
    };
    await agent.mode("edits");
    await agent.run([edit]);
    await agent.mode("autopilot");
    await agent.run([execute("make everything")]);
    expect(agent.events("permission_requested")).toEqual([]);
    expect(agent.said().match(/"optionId":"once"/g)).toHaveLength(2);
  });

  it("asks in mode edits for the configuration of tools, whatever the agent calls it", async () => {
    await start();
    await agent.mode("edits");
    const turn = await agent.prompt([
      {
        do: "permission",
        toolCall: {
          toolCallId: "e1",
          title: "Edit notes.txt",
          kind: "edit",
          locations: [{ path: "notes.txt" }],
          content: [{ type: "diff", path: ".git/hooks/pre-commit", oldText: null, newText: "x\n" }],
        },
      },
    ]);
    const asked = await agent.decide("deny");
    expect(asked).toMatchObject({
      tool: "edit",
      summary: join(agent.at.project, ".git/hooks/pre-commit"),
      allow_session: null,
    });
    expect(JSON.stringify(asked.input)).toContain("pre-commit");
    await agent.ended(turn);
  });

  it("shows the diff of a write, and the agent's own title as such", async () => {
    await start();
    const turn = await agent.prompt([
      {
        do: "permission",
        toolCall: {
          toolCallId: "e1",
          title: "Tidy\u202e up",
          kind: "edit",
          content: [{ type: "diff", path: "a.txt", oldText: "1\n", newText: "2\n" }],
        },
      },
    ]);
    const asked = await agent.decide("allow");
    expect(asked.input).toMatchObject({
      path: join(agent.at.project, "a.txt"),
      diff: expect.stringContaining("-1\n+2"),
      agent_title: "Tidy⟨U+202E⟩ up",
    });
    await agent.ended(turn);
  });

  it("of another kind is remembered by the agent's own words", async () => {
    await start();
    const fetching: Step = {
      do: "permission",
      toolCall: {
        toolCallId: "f",
        title: "Fetch https://x.example",
        kind: "fetch",
        rawInput: { url: "https://x.example" },
      },
    };
    const turn = await agent.prompt([
      fetching,
      { ...fetching, toolCall: { ...(fetching.toolCall as object), toolCallId: "g" } },
    ]);
    const asked = await agent.decide("allow_session");
    expect(asked).toMatchObject({
      tool: "fetch",
      allow_session: "fetch(Fetch https://x.example)",
      input: { url: "https://x.example", agent_title: "Fetch https://x.example" },
    });
    await agent.ended(turn);
    expect(agent.events("permission_requested")).toHaveLength(1);
  });

  it("that is denied leaves the turn done, also for an agent that calls it cancelled then", async () => {
    await start();
    const turn = await agent.prompt([execute("make"), { do: "stop", reason: "cancelled" }]);
    await agent.decide("deny");
    expect(await agent.ended(turn)).toMatchObject({ outcome: "done" });
    expect(await agent.run([{ do: "stop", reason: "cancelled" }])).toMatchObject({ outcome: "failed" });
  });

  it("of which nothing is told says so, and cannot be remembered", async () => {
    await start();
    const turn = await agent.prompt([{ do: "permission", toolCall: { toolCallId: "c" } }]);
    expect(await agent.decide("allow")).toMatchObject({
      summary: "The agent does not say what this is.",
      allow_session: null,
    });
    await agent.ended(turn);
  });

  it("for a call by the name of one that has ended is asked again", async () => {
    await start();
    const turn = await agent.prompt([
      execute("make a"),
      { do: "progress", toolCallId: "c1", status: "completed" },
      execute("make b"),
    ]);
    await agent.decide("allow");
    expect(await agent.decide("deny")).toMatchObject({ summary: "make b" });
    await agent.ended(turn);
    expect(agent.said()).toContain(selected("no"));
    expect(agent.events("tool_started")).toHaveLength(2);
  });

  it("attack: a path that stands beside an allowed command is not opened for it", async () => {
    await start({ rules: { allow: ["bash(wc *)"], deny: [] } });
    const outside = join(agent.folder, "outside.txt");
    await writeFile(outside, "not for you");
    await agent.run([
      {
        do: "permission",
        toolCall: {
          toolCallId: "r",
          title: "wc -l",
          kind: "read",
          rawInput: { command: "wc -l notes" },
          locations: [{ path: outside }],
        },
      },
      { do: "read", path: outside },
    ]);
    expect(agent.events("permission_requested")).toEqual([]);
    expect(agent.said()).toContain("read failed");
    expect(agent.said()).not.toContain("not for you");
  });

  it("for a command whose line is not told cannot be remembered", async () => {
    await start();
    const turn = await agent.prompt([
      { do: "permission", toolCall: { toolCallId: "c", title: "wc -l", kind: "execute" } },
    ]);
    expect((await agent.decide("allow")).allow_session).toBeNull();
    await agent.ended(turn);
  });

  it("is refused when the agent offers nothing but a permission for always", async () => {
    await start();
    expect(
      await agent.run([
        {
          ...execute("make"),
          options: [
            { optionId: "a", name: "Always", kind: "allow_always" },
            { optionId: "n", name: "Never", kind: "reject_always" },
          ],
        },
      ]),
    ).toMatchObject({ outcome: "done" });
    expect(agent.said()).toContain(cancelled);
    expect(agent.events("permission_requested")).toEqual([]);
    expect(agent.events("tool_finished")).toMatchObject([{ is_error: true }]);
  });

  it("chooses by kind, not by id or place, and takes the one that says once", async () => {
    await start();
    const turn = await agent.prompt([
      {
        ...execute("make"),
        options: [
          { optionId: "restore_previous", name: "Auto", kind: "allow_once" },
          { optionId: "reject", name: "Yes, always", kind: "allow_always" },
          { optionId: "proceed_once", name: "Yes", kind: "allow_once" },
        ],
      },
    ]);
    await agent.decide("allow");
    await agent.ended(turn);
    expect(agent.said()).toContain(selected("proceed_once"));
  });

  it("for many things at once asks for a few and refuses the rest", async () => {
    await start();
    const turn = await agent.prompt([{ ...execute("make"), times: 40 }]);
    // The first denial ends the call, and nobody is asked about it any more.
    await expect.poll(() => agent.events("permission_requested").length).toBe(16);
    for (let asked = 0; asked < 16; asked += 1) await agent.decide("deny");
    expect(await agent.ended(turn)).toMatchObject({ outcome: "done" });
    expect(agent.said().match(/permission refused -32603/g)?.length).toBeGreaterThan(0);
    expect(agent.events("permission_requested")).toHaveLength(16);
  });

  it("that comes after its turn was cancelled is cancelled as well, and nobody is asked", async () => {
    await start();
    const turn = await agent.prompt([
      { do: "say", text: "waiting" },
      {
        do: "askAfterCancel",
        toolCall: { toolCallId: "late", title: "Late", kind: "execute", rawInput: { command: "rm x" } },
      },
    ]);
    await agent.at.event("text_delta");
    await agent.at.engine.cancel(agent.agent, local);
    expect(await agent.ended(turn)).toMatchObject({ outcome: "cancelled" });
    expect(await agent.logLines()).toContain('asked after cancel: {"outcome":"cancelled"}');
    expect(agent.events("permission_requested")).toEqual([]);
    expect(await agent.run("work-less")).toMatchObject({ outcome: "done" });
  });

  it("that the agent does not wait for is closed with its turn", async () => {
    await start();
    const turn = await agent.prompt([
      { ...execute("make"), wait: false },
      { do: "say", text: "I go on." },
      { do: "pause", ms: 100 },
    ]);
    expect(await agent.ended(turn)).toMatchObject({ outcome: "done" });
    expect(agent.at.engine.snapshot().pending).toEqual([]);
  });
});

describe("questions that come as permission requests", () => {
  it("are asked as questions, and answered beside the outcome", async () => {
    await start();
    const turn = await agent.prompt([
      {
        do: "permission",
        toolCall: {
          toolCallId: "q",
          title: "Ask",
          kind: "think",
          rawInput: {
            questions: [
              {
                question: "Which store?",
                header: "Store",
                multiSelect: false,
                options: [{ label: "sqlite", description: "one file" }, { label: "files" }],
              },
            ],
          },
        },
      },
    ]);
    const asked = await agent.at.event("question_asked");
    expect(asked.questions).toEqual([
      {
        prompt: "Which store?",
        options: [
          { label: "sqlite", description: "one file" },
          { label: "files", description: null },
        ],
        multiple: false,
      },
    ]);
    await agent.at.engine.answer(
      { type: "answer", request_id: asked.request_id, answers: ["sqlite"] },
      local,
    );
    await agent.ended(turn);
    expect(agent.events("permission_requested")).toEqual([]);
    expect(agent.said()).toContain(selected("once"));
  });
});

describe("a call that holds questions and something beside them", () => {
  const questions = [{ question: "A nice day?", options: [{ label: "Yes" }] }];

  it.each([
    ["a command", { kind: "think", rawInput: { questions, command: "rm -rf notes" } }],
    ["a command by its kind", { kind: "execute", rawInput: { questions } }],
    ["an address", { kind: "other", rawInput: { questions, url: "https://x.example" } }],
    [
      "a change",
      {
        kind: "other",
        rawInput: { questions },
        content: [{ type: "diff", path: "a.txt", oldText: null, newText: "x" }],
      },
    ],
  ])("attack: is not allowed by an answer: %s", async (_what, fields) => {
    await start();
    const turn = await agent.prompt([
      { do: "permission", toolCall: { toolCallId: "q", title: "Ask", ...fields } },
    ]);
    await agent.decide("deny");
    await agent.ended(turn);
    expect(agent.events("question_asked")).toEqual([]);
    expect(agent.said()).toContain(selected("no"));
  });

  it("attack: a deny rule denies its command", async () => {
    await start({ rules: { allow: [], deny: ["bash(rm *)"] } });
    await agent.run([
      {
        do: "permission",
        toolCall: { toolCallId: "q", title: "Ask", rawInput: { questions, command: "rm -rf notes" } },
      },
    ]);
    expect(agent.events("question_asked")).toEqual([]);
    expect(agent.said()).toContain(selected("no"));
  });
});

describe("a change that was shown and allowed", () => {
  const edit = (before: string | null, after: string): Step => ({
    do: "permission",
    toolCall: {
      toolCallId: "e",
      title: "Edit",
      kind: "edit",
      content: [{ type: "diff", path: "a.txt", oldText: before, newText: after }],
    },
  });

  it("is written without a second question, and its call has the diff of what was written", async () => {
    await start();
    const path = join(agent.at.project, "a.txt");
    await writeFile(path, "old\n");
    const turn = await agent.prompt([
      edit("old\n", "new\n"),
      { do: "write", path, content: "new\n" },
      { do: "progress", toolCallId: "e", status: "completed" },
    ]);
    await agent.decide("allow");
    await agent.ended(turn);
    expect(await readFile(path, "utf8")).toBe("new\n");
    expect(agent.events("permission_requested")).toHaveLength(1);
    expect(agent.events("tool_finished")).toMatchObject([
      { is_error: false, diff: { path, patch: expect.stringContaining("-old\n+new") } },
    ]);
  });

  it.each([
    ["other content", edit("old\n", "new\n"), "evil\n"],
    ["the same content twice", edit("old\n", "new\n"), null],
    ["a change shown as new where there was a file", edit(null, "new\n"), "new\n"],
  ])("does not cover %s: that asks again", async (_what, shown, content) => {
    await start();
    const path = join(agent.at.project, "a.txt");
    await writeFile(path, "old\n");
    const writes: Step[] =
      content === null
        ? [
            { do: "write", path, content: "new\n" },
            { do: "file", path: "a.txt", text: "old\n" },
            { do: "write", path, content: "new\n" },
          ]
        : [{ do: "write", path, content }];
    const turn = await agent.prompt([shown, ...writes]);
    await agent.decide("allow");
    const again = await agent.decide("deny");
    expect(again).toMatchObject({ tool: "edit", summary: path });
    await agent.ended(turn);
    expect(await readFile(path, "utf8")).toBe("old\n");
    expect(agent.said()).toContain("write failed: -32603");
  });

  it("covers a replacement in the middle of a file, and only that one", async () => {
    await start();
    const path = join(agent.at.project, "a.txt");
    await writeFile(path, "one\ntwo\nthree\n");
    const turn = await agent.prompt([edit("two", "2"), { do: "write", path, content: "one\n2\nthree\n" }]);
    await agent.decide("allow");
    await agent.ended(turn);
    expect(await readFile(path, "utf8")).toBe("one\n2\nthree\n");
    expect(agent.events("permission_requested")).toHaveLength(1);
  });
});
