import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createBusy } from "../../../src/cli/attach/busy.ts";
import { startLineEditor } from "../../../src/cli/attach/line-editor.ts";
import { parseLine } from "../../../src/cli/attach/parse-line.ts";
import { readLines } from "../../../src/cli/attach/read-lines.ts";
import { createFamily } from "../../../src/cli/family.ts";
import { answerOfLine, questionText } from "../../../src/cli/question-text.ts";
import type { Change } from "../../../src/protocol/changes.ts";
import type { AgentEvent } from "../../../src/protocol/events.ts";
import { agentRow, snapshotOf, tabRow } from "../../client/fake-socket.ts";

describe("parseLine", () => {
  const isAgents = (word: string): boolean => word === "review" || word === "context";

  it.each([
    ["", { do: "nothing" }],
    ["   ", { do: "nothing" }],
    ["make", { do: "prompt", text: "make" }],
    ["  indented", { do: "prompt", text: "  indented" }],
    [" /jobs", { do: "prompt", text: " /jobs" }],
    ["/", { do: "prompt", text: "/" }],
    ["/usr/bin/env", { do: "prompt", text: "/usr/bin/env" }],
    ["/jobs", { do: "jobs" }],
    ["/jobs  ", { do: "jobs" }],
    ["/job 3fa9c210", { do: "job", id: "3fa9c210" }],
    ["/job", { do: "jobs" }],
    ["/mode", { do: "mode", mode: null }],
    ["/mode edits", { do: "mode", mode: "edits" }],
    ["/agent 2", { do: "agent", which: "2" }],
    ["/agent", { do: "agents" }],
    ["/allow", { do: "decide", decision: "allow" }],
    ["/allow-session", { do: "decide", decision: "allow_session" }],
    ["/deny", { do: "decide", decision: "deny" }],
    ["/answer the second", { do: "answer", text: "the second" }],
    ["/skip", { do: "answer", text: "/skip" }],
    ["/exit", { do: "quit" }],
    ["/q", { do: "quit" }],
    ["/?", { do: "help" }],
    ["/clear", { do: "new" }],
    ["/review src", { do: "prompt", text: "/review src" }],
    ["/context", { do: "prompt", text: "/context" }],
    ["/constructor", { do: "wrong" }],
    ["/alow", { do: "wrong" }],
  ])("reads %j", (raw, line) => {
    expect(parseLine(raw, isAgents)).toMatchObject(line);
  });

  it("reads anything", () => {
    fc.assert(fc.property(fc.string(), (raw) => typeof parseLine(raw, isAgents).do === "string"));
  });
});

describe("readLines", () => {
  async function all(chunks: readonly Uint8Array[]): Promise<string[]> {
    async function* input(): AsyncGenerator<Uint8Array> {
      yield* chunks;
    }
    const lines: string[] = [];
    for await (const line of readLines(input())) lines.push(line);
    return lines;
  }

  it("gives the same lines however the bytes are cut", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat({ max: 30 })), async (cuts) => {
        const bytes = Buffer.from("eins\nzwölf\r\n\n名前 ⟨");
        const at = [...new Set([0, ...cuts.filter((cut) => cut < bytes.length), bytes.length])].sort(
          (a, b) => a - b,
        );
        const chunks = at.slice(1).map((end, index) => bytes.subarray(at[index], end));
        expect(await all(chunks)).toEqual(["eins", "zwölf", "", "名前 ⟨"]);
      }),
    );
  });

  it("stops at a line that no prompt could hold instead of growing", async () => {
    let given = 0;
    async function* endless(): AsyncGenerator<Uint8Array> {
      for (;;) {
        given += 1;
        yield Buffer.alloc(64 * 1024, "x");
      }
    }
    const lines = readLines(endless());
    await expect(lines.next()).rejects.toMatchObject({ exitCode: 2 });
    expect(given).toBeLessThan(20);
  });
});

describe("answerOfLine", () => {
  const question = {
    request_id: "q1",
    workspace: "w1",
    tab: "t1",
    agent: "a1",
    turn: "u1",
    call_id: null,
    subagent: null,
    at: "",
    questions: [
      {
        prompt: "Which store?\u202e",
        options: [
          { label: "sqlite", description: "one file" },
          { label: "postgres", description: null },
        ],
        multiple: false,
      },
      {
        prompt: "Which tests?",
        options: [
          { label: "unit", description: null },
          { label: "e2e", description: null },
        ],
        multiple: true,
      },
      { prompt: "Why?", options: [], multiple: false },
    ],
  };

  it.each([
    [0, "1", { ok: true, answer: "sqlite" }],
    [0, " 2 ", { ok: true, answer: "postgres" }],
    [0, "something else", { ok: true, answer: "something else" }],
    [0, "3", { ok: false }],
    [0, "0", { ok: false }],
    [0, "1,2", { ok: false }],
    [0, "", { ok: false }],
    [1, "1,2", { ok: true, answer: "unit, e2e" }],
    [1, "2 2", { ok: true, answer: "e2e" }],
    [2, "42", { ok: true, answer: "42" }],
  ])("question %i, line %j", (index, line, answer) => {
    expect(answerOfLine(question, index, line)).toMatchObject(answer);
  });

  it("comes after a text with numbers, in which what is hidden is made visible", () => {
    const text = questionText(question, 0);
    expect(text).toContain("The agent asks: Which store?⟨U+202E⟩");
    expect(text).toContain("  1  sqlite: one file\n  2  postgres\n");
  });
});

describe("createBusy", () => {
  const at = { agent: "a1", seq: 1, at: "" };
  const started = (turn: string): AgentEvent => ({ ...at, type: "turn_started", turn });
  const finished = (turn: string): AgentEvent => ({ ...at, type: "turn_finished", turn, outcome: "done" });

  it("waits for a turn whose reply comes after its end", () => {
    const busy = createBusy(null);
    const done = busy.sending();
    busy.hear(started("u1"));
    busy.hear(finished("u1"));
    expect(busy.isBusy).toBe(true);
    done("u1");
    expect(busy.isBusy).toBe(false);
  });

  it("waits for a turn that is reserved behind another", () => {
    const busy = createBusy("u0");
    busy.sending()("u1");
    busy.hear(finished("u0"));
    expect(busy.isBusy).toBe(true);
    busy.hear(started("u1"));
    busy.hear(finished("u1"));
    expect(busy.isBusy).toBe(false);
  });

  it("is free again after a refusal, and after a snapshot that knows of no turn", () => {
    const busy = createBusy(null);
    busy.sending()(null);
    expect(busy.isBusy).toBe(false);
    busy.sending()("u1");
    busy.reset(null);
    expect(busy.isBusy).toBe(false);
  });
});

describe("createFamily", () => {
  const child = { ...agentRow, id: "a2", parent: "a1" };
  const grandchild = { ...agentRow, id: "a3", parent: "a2" };
  const state = snapshotOf(1, "i1", {
    workspace: {
      id: "w1",
      name: "main",
      active_tab: "t1",
      tabs: [{ ...tabRow, agents: [grandchild, child, agentRow, { ...agentRow, id: "a9" }] }],
    },
  });

  it("knows subagents down to the last, in whatever order they stand", () => {
    const family = createFamily("a1", state);
    expect(["a1", "a2", "a3", "a9", null].map(family.has)).toEqual([true, true, true, false, false]);
  });

  it("learns of new ones from rows and from events", () => {
    const family = createFamily("a1", state);
    family.hear({ type: "agent_updated", rev: 2, agent: { ...agentRow, id: "a4", parent: "a3" } });
    family.hear({
      type: "event",
      rev: 3,
      workspace: "w1",
      tab: "t1",
      event: {
        agent: "a5",
        seq: 1,
        at: "",
        type: "agent_started",
        label: null,
        parent: "a4",
        runtime: "replay",
        model: null,
        cwd: "/",
      },
    } as Change);
    family.hear({ type: "agent_updated", rev: 4, agent: { ...agentRow, id: "a6", parent: "a9" } });
    expect(["a4", "a5", "a6"].map(family.has)).toEqual([true, true, false]);
  });
});

describe("the line editor", () => {
  function edit(setting: { isAsking?: boolean; pauseMs?: number } = {}) {
    let nowMs = 1_000_000;
    let press: (key: string) => void = () => undefined;
    const heard = { lines: [] as string[], keys: [] as string[], ended: 0, interrupted: 0, screen: "" };
    const asking = { now: setting.isAsking === true };
    const editor = startLineEditor({
      keyboard: {
        listen(listener) {
          press = listener;
          return () => undefined;
        },
      },
      now: () => nowMs,
      write: (text) => {
        heard.screen += text;
      },
      onLine: (line) => heard.lines.push(line),
      onInterrupt: () => {
        heard.interrupted += 1;
      },
      onEnd: () => {
        heard.ended += 1;
      },
      isAsking: () => asking.now,
      onKey: (key) => heard.keys.push(key),
    });
    editor.show();
    return {
      heard,
      asking,
      type(keys: string, apartMs = 50) {
        for (const key of keys) {
          nowMs += apartMs;
          press(key);
        }
      },
    };
  }

  it("edits a line", () => {
    const { heard, type } = edit();
    type("make tset\u007f\u007f\u007fest\rlost\u0015one two\u0017three\r");
    expect(heard.lines).toEqual(["make test", "one three"]);
  });

  it("ignores arrows, and ends at Ctrl-D on an empty line only", () => {
    const { heard, type } = edit();
    type("a\u001b[Ab\u001bOPc\u0004\r\u0004\u0003");
    expect(heard).toMatchObject({ lines: ["abc"], ended: 1, interrupted: 1 });
  });

  it("attack by timing: keys of a line that is being typed answer no request that comes up meanwhile", () => {
    const { heard, asking, type } = edit();
    type("yes, ");
    asking.now = true;
    type("yyy\r");
    // The line is empty again, but the person has not stopped typing.
    type("y");
    expect(heard.keys).toEqual([]);
    expect(heard.lines).toEqual(["yes, yyy"]);
    type("\u007f");
    type("y", 600);
    expect(heard.keys).toEqual(["y"]);
  });

  it("a key after a pause answers, and what follows belongs to the answer too", () => {
    const { heard, asking, type } = edit({ isAsking: true });
    type("2", 600);
    type("5\r");
    expect(heard.keys).toEqual(["2", "5", "\r"]);
    asking.now = false;
    type("ls\r");
    expect(heard.lines).toEqual(["ls"]);
  });
});
