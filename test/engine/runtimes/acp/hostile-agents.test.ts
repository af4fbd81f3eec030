import { lstat, mkdir, open, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { local } from "../../support/engine-fixture.ts";
import { type Scripted, type ScriptedOptions, type Step, scripted } from "./support.ts";

let agent: Scripted;
afterEach(() => agent.dispose());

async function start(options?: ScriptedOptions): Promise<void> {
  agent = await scripted(options);
}

const once = { optionId: "once", name: "Once", kind: "allow_once" };
const no = { optionId: "no", name: "No", kind: "reject_once" };
const execute = (options?: readonly object[]): Step => ({
  do: "permission",
  toolCall: { toolCallId: "c", title: "Run", kind: "execute", rawInput: { command: "make it" } },
  ...(options ? { options } : {}),
});

describe("attack: an agent changes a call while a person looks at it", () => {
  const diff = (oldText: string, newText: string) => [{ type: "diff", path: "a.txt", oldText, newText }];

  it("gets nothing written that was not shown: the change that it slipped in asks again", async () => {
    await start();
    const path = join(agent.at.project, "a.txt");
    await writeFile(path, "old\n");
    const turn = await agent.prompt([
      {
        do: "permission",
        wait: false,
        toolCall: { toolCallId: "e", title: "Edit", kind: "edit", content: diff("old\n", "harmless\n") },
      },
      { do: "progress", toolCallId: "e", content: diff("old\n", "evil\n") },
      { do: "ask" },
      { do: "write", path, content: "evil\n" },
    ]);
    const question = await agent.at.event("question_asked", (event) => event.turn === turn);
    const shown = await agent.decide("allow");
    expect(JSON.stringify(shown.input)).toContain("+harmless");
    await agent.at.engine.answer(
      { type: "answer", request_id: question.request_id, answers: ["files", "users"] },
      local,
    );
    const again = await agent.decide("deny");
    expect(JSON.stringify(again.input)).toContain("+evil");
    await agent.ended(turn);
    expect(await readFile(path, "utf8")).toBe("old\n");
  });
});

describe("attack: a change that is too long to be shown", () => {
  it("says so, and is asked for again when it is written: what was not seen was not allowed", async () => {
    await start();
    const path = join(agent.at.project, "long.txt");
    const content = { repeat: "harmless\n", times: 60_000, end: "evil\n" };
    const turn = await agent.prompt([
      {
        do: "permission",
        toolCall: {
          toolCallId: "e",
          title: "Edit",
          kind: "edit",
          content: [{ type: "diff", path, oldText: null, newText: content }],
        },
      },
      { do: "write", path, content },
    ]);
    const shown = await agent.decide("allow");
    expect((shown.input as { diff: string }).diff).toMatch(/Not shown from here on: \d+ changed lines/);
    expect(await agent.decide("deny")).toMatchObject({ tool: "edit", summary: path });
    await agent.ended(turn);
    expect(await lstat(path).catch(() => null)).toBeNull();
  });
});

describe("attack: options of a permission request that mean two things", () => {
  const x = (kind: string) => ({ optionId: "x", name: "X", kind });
  it.each([
    ["one id that allows and rejects", [once, x("allow_once"), x("reject_once")], "cancelled"],
    ["one id that rejects and allows always", [once, x("reject_once"), x("allow_always")], "cancelled"],
    ["ids that are the same when cut", [once, { ...no, optionId: "n".repeat(600) }], "cancelled"],
    ["the same option twice", [once, no, no], '"optionId":"no"'],
    ["a thousand others before", [...Array(1_000).fill(x("allow_always")), once, no], '"optionId":"no"'],
  ])("a denial is never answered by %s", async (_what, options, said) => {
    await start();
    const turn = await agent.prompt([execute(options)]);
    await agent.decide("deny");
    await agent.ended(turn);
    expect(agent.said()).toContain(said);
    expect(agent.said()).not.toContain('"optionId":"x"');
  });

  it("an allowance is never given by an id that also stands for always", async () => {
    await start();
    await agent.run([execute([x("allow_once"), x("allow_always"), no])]);
    expect(agent.events("permission_requested")).toEqual([]);
    expect(agent.said()).toContain('"optionId":"no"');
  });
});

describe("attack: a permission request for files", () => {
  it("of any size is judged without reading them", async () => {
    await start();
    const file = await open(join(agent.at.project, "huge"), "w");
    await file.truncate(1_500 * 1024 * 1024);
    await file.close();
    const beforeKib = process.resourceUsage().maxRSS;
    const turn = await agent.prompt([
      {
        do: "permission",
        toolCall: { toolCallId: "e", title: "Edit", kind: "edit", locations: [{ path: "huge" }] },
      },
    ]);
    expect(await agent.decide("deny")).toMatchObject({ summary: join(agent.at.project, "huge") });
    await agent.ended(turn);
    expect(process.resourceUsage().maxRSS - beforeKib).toBeLessThan(700 * 1024);
  });

  it.each(["delete", "move", "edit"])(
    "to %s a folder by a link shows the folder, and the home is refused",
    async (kind) => {
      await start();
      const ask = (path: string): Step => ({
        do: "permission",
        toolCall: { toolCallId: path, title: "Tidy up", kind, locations: [{ path }] },
      });
      await mkdir(join(agent.at.project, "real"));
      await symlink(join(agent.at.project, "real"), join(agent.at.project, "link"));
      await symlink(agent.at.home, join(agent.at.project, "cache"));
      const turn = await agent.prompt([ask("link"), ask("cache"), ask("cache/sessions")]);
      expect(await agent.decide("allow")).toMatchObject({ summary: join(agent.at.project, "real") });
      await agent.ended(turn);
      expect(agent.events("permission_requested")).toHaveLength(1);
      expect(agent.said().match(/"optionId":"no"/g)).toHaveLength(2);
    },
  );
});

describe("attack: a call of a harmless kind, or of none", () => {
  const rules = { allow: ["bash(echo *)"], deny: ["bash(rm *)", "edit(secret/**)"] };
  const content = [{ type: "diff", path: "secret/a.txt", oldText: null, newText: "x" }];
  const ask = (call: object): Step => ({
    do: "permission",
    toolCall: { toolCallId: "c", title: "Look around", ...call },
  });

  it.each([
    ["no kind", { rawInput: { command: "rm -rf build" } }],
    ["the kind other", { kind: "other", rawInput: { cmd: ["rm", "-rf", "build"] } }],
    ["a kind that every object has", { kind: "constructor", rawInput: { command: "rm -rf build" } }],
    ["the kind read", { kind: "read", rawInput: { command: ["bash", "-lc", "rm -rf build"] } }],
    ["the kind think, with a diff", { kind: "think", content }],
    ["no kind, with a diff", { content }],
  ])("is judged by what it runs and writes: %s", async (_what, call) => {
    await start({ rules });
    await agent.mode("autopilot");
    await agent.run([ask(call)]);
    expect(agent.events("permission_requested")).toEqual([]);
    expect(agent.said()).toContain('"optionId":"no"');
    expect(agent.events("tool_finished")).toMatchObject([
      { is_error: true, output: expect.stringContaining("Denied by the rule") },
    ]);
  });

  it.each([
    [
      "the end of a command is beyond what is kept",
      { kind: "execute", rawInput: { command: { repeat: "echo a ", times: 12_000, end: "; rm -rf build" } } },
    ],
    [
      "a diff stands beside an allowed command",
      { kind: "execute", rawInput: { command: "echo a" }, content },
    ],
  ])("asks in autopilot too, whatever a rule allows, when %s", async (_what, call) => {
    await start({ rules });
    await agent.mode("autopilot");
    const turn = await agent.prompt([ask(call)]);
    expect(await agent.decide("deny")).toMatchObject({ tool: "bash", allow_session: null });
    await agent.ended(turn);
    expect(agent.said()).toContain('"optionId":"no"');
  });

  it("shows a command that stands beside a diff", async () => {
    await start();
    const turn = await agent.prompt([ask({ kind: "edit", rawInput: { command: "rm -rf build" }, content })]);
    expect((await agent.decide("deny")).input).toMatchObject({
      command: "rm -rf build",
      path: join(agent.at.project, "secret", "a.txt"),
    });
    await agent.ended(turn);
  });
});

describe("the note on what the rules do not reach", () => {
  it("comes with the first request that is really asked, not with what the mode allowed", async () => {
    await start();
    await agent.mode("edits");
    const path = join(agent.at.project, "plain.txt");
    const turn = await agent.prompt([{ do: "write", path, content: "x" }, execute()]);
    expect(await agent.decide("deny")).toMatchObject({
      tool: "bash",
      note: expect.stringContaining("a program of its own"),
    });
    await agent.ended(turn);
  });
});
