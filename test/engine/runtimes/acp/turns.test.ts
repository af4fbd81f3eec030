import { afterEach, describe, expect, it } from "vitest";
import { judgeCall } from "../../../../src/engine/rules/judge-call.ts";
import { local } from "../../support/engine-fixture.ts";
import { type Scripted, type ScriptedOptions, scripted } from "./support.ts";

let agent: Scripted;
afterEach(() => agent.dispose());

async function start(options?: ScriptedOptions): Promise<void> {
  agent = await scripted(options);
}

describe("what an ACP agent tells in a turn", () => {
  it("becomes messages with their thoughts, each whole as a record", async () => {
    await start();
    await agent.run([
      { do: "think", text: "hm" },
      { do: "say", text: "one " },
      { do: "say", text: "message" },
      { do: "think", text: "and then" },
      { do: "say", text: "another" },
    ]);
    expect(agent.events("assistant_message").map(({ message }) => [message.thinking, message.text])).toEqual([
      ["hm", "one message"],
      ["and then", "another"],
    ]);
    expect(
      agent
        .events("text_delta")
        .map(({ text }) => text)
        .join(""),
    ).toBe("one messageanother");
  });

  it("begins another message where the agent says that it is one", async () => {
    await start();
    const piece = (messageId: string, text: string) => ({
      do: "update",
      body: { sessionUpdate: "agent_message_chunk", messageId, content: { type: "text", text } },
    });
    await agent.run([piece("a", "one"), piece("a", " more"), piece("b", "two")]);
    expect(agent.events("assistant_message").map(({ message }) => message.text)).toEqual(["one more", "two"]);
  });

  it("becomes tool calls with input, output and diff, in their order among the messages", async () => {
    await start();
    await agent.run([
      { do: "say", text: "I look." },
      {
        do: "call",
        toolCallId: "c1",
        title: "Search for x",
        kind: "search",
        status: "in_progress",
        rawInput: { pattern: "x" },
      },
      {
        do: "progress",
        toolCallId: "c1",
        content: [{ type: "content", content: { type: "text", text: "a" } }],
      },
      {
        do: "progress",
        toolCallId: "c1",
        status: "completed",
        content: [{ type: "content", content: { type: "text", text: "a\nb" } }],
      },
      { do: "say", text: "Found." },
      {
        do: "call",
        toolCallId: "c2",
        title: "Edit a.txt",
        kind: "edit",
        status: "completed",
        content: [{ type: "diff", path: "a.txt", oldText: "1\n", newText: "2\n" }],
      },
      {
        do: "call",
        toolCallId: "c3",
        title: "Try",
        kind: "fetch",
        status: "failed",
        rawOutput: "no network",
      },
    ]);
    const types = agent.at
      .events()
      .map(({ type }) => type)
      .filter((type) => ["assistant_message", "tool_started", "tool_finished"].includes(type));
    expect(types).toEqual([
      "assistant_message",
      "tool_started",
      "tool_finished",
      "assistant_message",
      "tool_started",
      "tool_finished",
      "tool_started",
      "tool_finished",
    ]);
    expect(agent.events("tool_started")[0]).toMatchObject({
      tool: "search",
      summary: "Search for x",
      input: { pattern: "x" },
    });
    expect(agent.events("tool_output").map(({ text }) => text)).toEqual(["a", "\nb"]);
    const path = `${agent.at.project}/a.txt`;
    expect(agent.events("tool_finished")).toMatchObject([
      { tool: "search", output: "a\nb", is_error: false },
      {
        tool: "edit",
        is_error: false,
        diff: { path, patch: `--- ${path}\n+++ ${path}\n@@ -1,1 +1,1 @@\n-1\n+2\n` },
      },
      { tool: "fetch", is_error: true, output: "no network" },
    ]);
  });

  it("announces a call that is still being written, and knows an update of a call that it never heard of", async () => {
    await start();
    await agent.run([
      { do: "call", toolCallId: "c1", title: "Read", kind: "read", status: "pending" },
      { do: "progress", toolCallId: "new", title: "Unheard of", kind: "other", status: "completed" },
    ]);
    expect(agent.events("tool_call_streaming")[0]).toMatchObject({ tool: "read" });
    expect(agent.events("tool_finished")).toMatchObject([{ tool: "tool", is_error: false }]);
    expect(agent.events("tool_started")).toMatchObject([{ summary: "Unheard of" }]);
  });

  it("becomes todos, a title, notices and usage", async () => {
    await start();
    await agent.run([
      {
        do: "update",
        body: {
          sessionUpdate: "plan",
          entries: [
            { content: "first", priority: "high", status: "completed" },
            { content: "second", priority: "low", status: "in_progress" },
          ],
        },
      },
      { do: "update", body: { sessionUpdate: "session_info_update", title: "A fine title" } },
      { do: "update", body: { sessionUpdate: "current_mode_update", currentModeId: "plan" } },
      {
        do: "update",
        body: {
          sessionUpdate: "usage_update",
          used: 1_200,
          size: 8_000,
          cost: { amount: 0.25, currency: "USD" },
        },
      },
      { do: "usage", usage: { inputTokens: 10, outputTokens: 3, cachedReadTokens: 5, totalTokens: 13 } },
    ]);
    expect(agent.events("todos")[0]?.todos).toEqual([
      { id: "1", content: "first", status: "completed" },
      { id: "2", content: "second", status: "in_progress" },
    ]);
    expect(agent.events("title")[0]).toMatchObject({ title: "A fine title" });
    expect(agent.at.engine.snapshot().workspace.tabs[0]?.agents[0]?.title).toBe("A fine title");
    expect(agent.events("notice")[0]?.message).toBe('Scripted is in its mode "Planning" now.');
    expect(agent.events("usage")).toMatchObject([
      {
        input_tokens: 10,
        output_tokens: 3,
        cache_read_tokens: 5,
        cache_write_tokens: 0,
        cost: 0.25,
        context_tokens: 1_200,
      },
    ]);
  });

  it("counts usage that comes with the messages, as some agents send it", async () => {
    await start();
    const answer = (input: number) => ({
      do: "update",
      body: {
        sessionUpdate: "agent_message_chunk",
        content: { type: "text", text: "" },
        _meta: { usage: { inputTokens: input, outputTokens: 2, cachedReadTokens: 1 } },
      },
    });
    await agent.run([answer(10), answer(20)]);
    expect(agent.events("usage")).toMatchObject([
      { input_tokens: 30, output_tokens: 4, cache_read_tokens: 2, cost: null, context_tokens: 22 },
    ]);
  });

  it("ends the turn as its reason says", async () => {
    await start();
    expect(await agent.run([{ do: "stop", reason: "end_turn" }])).toMatchObject({ outcome: "done" });
    for (const reason of ["refusal", "max_tokens", "max_turn_requests", "cancelled", "whatever"])
      expect(await agent.run([{ do: "stop", reason }])).toMatchObject({
        outcome: "failed",
        error: expect.stringContaining("Scripted"),
      });
    expect(
      await agent.run([{ do: "error", message: "Boom", data: { details: "401 wrong key" } }]),
    ).toMatchObject({ outcome: "failed", error: "Scripted: Boom: 401 wrong key." });
  });

  it("may be what the example agent of the protocol's own SDK does: a read, an edit that asks, and an end", async () => {
    await start();
    const path = "/home/user/project/config.json";
    const call = {
      toolCallId: "call_2",
      title: "Modifying critical configuration file",
      kind: "edit",
      status: "pending",
      locations: [{ path }],
      rawInput: { path, content: '{"database": {"host": "new-host"}}' },
    };
    const turn = await agent.prompt([
      { do: "say", text: "I'll help you with that." },
      { do: "call", toolCallId: "call_1", title: "Reading project files", kind: "read", status: "pending" },
      { do: "progress", toolCallId: "call_1", status: "completed", rawOutput: { content: "# My Project" } },
      { do: "say", text: " Now I understand." },
      { do: "call", ...call },
      {
        do: "permission",
        toolCall: call,
        options: [
          { kind: "allow_once", name: "Allow this change", optionId: "allow" },
          { kind: "reject_once", name: "Skip this change", optionId: "reject" },
        ],
      },
      { do: "progress", toolCallId: "call_2", status: "completed", rawOutput: { success: true } },
      { do: "say", text: " Perfect!" },
    ]);
    expect(await agent.decide("allow")).toMatchObject({
      tool: "edit",
      summary: path,
      input: { agent_title: "Modifying critical configuration file" },
    });
    expect(await agent.ended(turn)).toMatchObject({ outcome: "done" });
    expect(agent.said()).toContain('"optionId":"allow"');
    expect(agent.events("tool_finished").map(({ tool, output }) => [tool, output])).toEqual([
      ["read", '{"content":"# My Project"}'],
      ["edit", '{"success":true}'],
    ]);
  });

  it("gets images and files as such, and slash commands of its own as they are", async () => {
    await start();
    const png =
      "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    await agent.run([{ do: "file", path: "notes.md", text: "# notes\n" }]);
    const { turn } = await agent.at.engine.prompt(
      {
        type: "prompt",
        agent: agent.agent,
        text: "/compress now",
        images: [{ name: "dot.png", data: png }],
        attachments: [{ path: "notes.md" }],
      },
      local,
    );
    expect(await agent.ended(turn)).toMatchObject({ outcome: "done" });
    const sent = (await agent.logLines()).filter((line) => line.startsWith("prompt ")).at(-1) ?? "";
    expect(JSON.parse(sent.slice("prompt ".length))).toEqual([
      { type: "text", text: "/compress now" },
      { type: "image", mimeType: "image/png", data: png },
      {
        type: "resource",
        resource: {
          uri: `file://${agent.at.project}/notes.md`,
          mimeType: "text/plain",
          text: "# notes\n",
        },
      },
    ]);
  });

  it("sends in words what the agent does not take", async () => {
    await start({ args: ["--no-images"] });
    await agent.run([{ do: "file", path: "notes.md", text: "# notes\n" }]);
    const { turn } = await agent.at.engine.prompt(
      { type: "prompt", agent: agent.agent, text: "look", attachments: [{ path: "notes.md" }] },
      local,
    );
    await agent.ended(turn);
    const sent = (await agent.logLines()).filter((line) => line.startsWith("prompt ")).at(-1) ?? "";
    expect(JSON.parse(sent.slice("prompt ".length))).toEqual([
      { type: "text", text: "look" },
      { type: "text", text: "notes.md:\n```\n# notes\n```" },
    ]);
  });

  it("shows its slash commands on the tab, and says there that its own process is outside of the rules", async () => {
    await start();
    const tab = agent.at.engine.snapshot().workspace.tabs[0]?.id;
    await agent.run([{ do: "commands", names: ["compress", "init"] }]);
    const shown = await agent.at.change(
      (change) =>
        change.type === "tab_updated" &&
        change.tab.id === tab &&
        (change.tab.project?.commands.some(({ name }) => name === "init") ?? false),
    );
    expect(shown).toMatchObject({ tab: { note: expect.stringContaining("inside its own process") } });
  });
});

describe("models of an ACP agent", () => {
  it.each([
    ["a configuration option", [], "set model two"],
    ["the older request", ["--old-models"], "set_model two"],
  ])("are chosen by %s", async (_how, args, logged) => {
    await start({ args });
    const { id } = await agent.at.engine.startAgent(
      { type: "agent_start", runtime: "scripted", model: "two" },
      local,
    );
    const { turn } = await agent.at.engine.prompt({ type: "prompt", agent: id, text: "hello" }, local);
    expect(await agent.ended(turn)).toMatchObject({ outcome: "done" });
    expect(await agent.logLines()).toContain(logged);
    expect(agent.at.engine.library.models().models.map(({ id: model }) => model)).toEqual(["one", "two"]);
    await agent.at.engine.setModel({ type: "model", agent: id, model: "one" }, local);
    await expect(
      agent.at.engine.setModel({ type: "model", agent: id, model: "three" }, local),
    ).rejects.toMatchObject({ code: "invalid_field", field: "model" });
    const again = await agent.at.engine.prompt({ type: "prompt", agent: id, text: "hello" }, local);
    await agent.ended(again.turn);
    expect(await agent.logLines()).toContain(logged.replace("two", "one"));
  });

  it("are known after a restart before anything is started, and refused where there is no such", async () => {
    await start();
    await agent.run("hello");
    await agent.at.restart({ judgeCall });
    expect(agent.at.engine.library.models().models.map(({ id }) => id)).toEqual(["one", "two"]);
    const before = (await agent.logLines()).length;
    const { model } = await agent.at.engine.startAgent({ type: "agent_start", runtime: "scripted" }, local);
    expect(model).toBe("one");
    expect(await agent.logLines()).toHaveLength(before);
    await expect(
      agent.at.engine.startAgent({ type: "agent_start", runtime: "scripted", model: "three" }, local),
    ).rejects.toMatchObject({ field: "model" });
  });

  it("are told when the agent changes its own, and kept", async () => {
    await start();
    await agent.run([
      {
        do: "update",
        body: {
          sessionUpdate: "config_option_update",
          configOptions: [
            {
              id: "model",
              category: "model",
              name: "Model",
              type: "select",
              currentValue: "two",
              options: [
                { value: "one", name: "One" },
                { value: "two", name: "Two" },
              ],
            },
          ],
        },
      },
    ]);
    expect(agent.events("model_changed").map(({ model }) => model)).toEqual(["one", "two"]);
    expect(agent.at.engine.snapshot().workspace.tabs[0]?.agents[0]?.model).toBe("two");
  });
});

describe("levels of thinking of an ACP agent", () => {
  it("are those of its option, and set before the turn", async () => {
    await start({ args: ["--thinking"] });
    await agent.run("hello");
    expect(agent.at.engine.library.models().models[0]).toMatchObject({
      id: "one",
      thinking: ["low", "high"],
    });
    await agent.at.engine.sessions.setThinking(
      { type: "thinking", agent: agent.agent, thinking: "high" },
      local,
    );
    await agent.run("think hard");
    expect(await agent.logLines()).toContain("set effort high");
    await expect(
      agent.at.engine.sessions.setThinking(
        { type: "thinking", agent: agent.agent, thinking: "endless" },
        local,
      ),
    ).rejects.toMatchObject({ code: "invalid_field", field: "thinking" });
  });
});

describe("compaction of an ACP agent", () => {
  it("is its own command, and what it says of it is the summary", async () => {
    await start();
    await agent.run("hello");
    const { turn } = await agent.at.engine.compact({ type: "compact", agent: agent.agent }, local);
    expect(await agent.ended(turn)).toMatchObject({ outcome: "done" });
    expect(agent.events("compacted")).toMatchObject([{ summary: "We talked about the weather." }]);
    expect(agent.events("assistant_message")).toHaveLength(1);
  });

  it("fails with the reason where the agent has no command for it", async () => {
    await start();
    await agent.run([
      { do: "pause", ms: 50 },
      { do: "commands", names: ["init"] },
    ]);
    const { turn } = await agent.at.engine.compact({ type: "compact", agent: agent.agent }, local);
    expect(await agent.ended(turn)).toMatchObject({
      outcome: "failed",
      error: expect.stringContaining("offers no command to make its context smaller"),
    });
    expect(agent.events("compacted")).toEqual([]);
  });
});

describe("subagents of an ACP agent", () => {
  const inside = (toolCallId: string, more: Readonly<Record<string, unknown>>) => ({
    toolCallId,
    kind: "execute",
    rawInput: { command: "make it" },
    _meta: { parentToolCallId: "task", subagentType: "reviewer" },
    ...more,
  });

  it("get rows, transcripts and requests of their own, and end with the call that started them", async () => {
    await start();
    const turn = await agent.prompt([
      {
        do: "call",
        toolCallId: "task",
        title: "Review",
        kind: "other",
        status: "in_progress",
        rawInput: { subagent_type: "reviewer", prompt: "Look at it." },
      },
      { do: "permission", toolCall: inside("c1", { title: "Run" }) },
      { do: "progress", ...inside("c1", { status: "completed", rawOutput: "made" }) },
      { do: "progress", toolCallId: "task", status: "completed", rawOutput: "reviewed" },
      { do: "say", text: "All is well." },
    ]);
    const asked = await agent.decide("allow");
    expect(await agent.ended(turn)).toMatchObject({ outcome: "done" });
    const rows = agent.at.engine.snapshot().workspace.tabs[0]?.agents ?? [];
    const child = rows.find((row) => row.parent === agent.agent);
    expect(child).toMatchObject({ label: "reviewer", state: "idle" });
    expect(asked.agent).toBe(child?.id);
    const own = (await agent.at.transcript(child?.id ?? "")).map(({ type }) => type);
    expect(own).toEqual([
      "agent_started",
      "turn_started",
      "user_message",
      "tool_started",
      "permission_requested",
      "permission_resolved",
      "tool_finished",
      "turn_finished",
      "agent_finished",
    ]);
    expect(
      agent
        .events("tool_finished")
        .filter((event) => event.agent === agent.agent)
        .map(({ output }) => output),
    ).toEqual(["reviewed"]);
  });

  it("that were left behind end with the turn", async () => {
    await start();
    await agent.run([
      { do: "call", toolCallId: "task", title: "Review", kind: "other", status: "in_progress" },
      { do: "call", ...inside("c1", { title: "Run", status: "in_progress" }) },
    ]);
    expect(agent.events("agent_finished")).toMatchObject([{ outcome: "done" }]);
    expect(agent.events("agent_started").map(({ label }) => label)).toEqual([null, "reviewer"]);
  });
});
