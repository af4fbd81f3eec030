import { describe, expect, it } from "vitest";
import { openAnswerDesk } from "../../src/cli/answer-desk.ts";
import type { Decision, PermissionRequest } from "../../src/protocol/objects.ts";

const request = (id: string): PermissionRequest => ({
  request_id: id,
  workspace: "w",
  tab: "t",
  agent: "a",
  turn: "u",
  call_id: "c",
  tool: "bash",
  summary: "echo hi",
  input: { command: "echo hi" },
  cwd: "/srv",
  allow_session: null,
  digest: "d",
  at: "2026-11-30T12:00:00.000Z",
});

function desk() {
  const decisions: (readonly [string, Decision])[] = [];
  const notes: string[] = [];
  const opened = openAnswerDesk({
    out: {
      json: async () => undefined,
      line: async () => undefined,
      note: async (text) => void notes.push(text),
    },
    hasKeyboard: true,
    elsewhere: "",
    echo: () => undefined,
    approve: async ({ request_id }, decision) => {
      decisions.push([request_id, decision]);
      return true;
    },
    answer: async () => true,
  });
  return { ...opened, decisions, notes };
}

describe("openAnswerDesk", () => {
  it("a key typed ahead, that the terminal hands over only after the request was written, answers nothing", async () => {
    const { ask, key, decisions, notes } = desk();
    const asked = ask(request("r1"));
    while (notes.length === 0) await Promise.resolve();
    for (let turns = 0; turns < 5; turns++) await Promise.resolve();
    key("y");
    await asked;
    expect(decisions).toEqual([]);
    key("n");
    expect(decisions).toEqual([["r1", "deny"]]);
  });

  it("nor does it answer the next one, in the middle of a turn", async () => {
    const { ask, key, resolved, decisions, notes } = desk();
    await ask(request("r1"));
    await ask(request("r2"));
    key("n");
    const shown = notes.length;
    const next = resolved("r1");
    while (notes.length === shown) await Promise.resolve();
    key("y");
    await next;
    expect(decisions).toEqual([["r1", "deny"]]);
    key("y");
    expect(decisions.at(-1)).toEqual(["r2", "allow"]);
  });
});
