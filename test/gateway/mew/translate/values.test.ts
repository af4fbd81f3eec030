import { describe, expect, it } from "vitest";
import { sessionInfo, sessionState } from "../../../../src/gateway/mew/translate/lists.ts";
import {
  findModel,
  modelInfo,
  modeName,
  readMode,
  todoList,
} from "../../../../src/gateway/mew/translate/values.ts";
import { sessionIdOf } from "../../../../src/protocol/mew/ids.ts";
import { modes } from "../../../../src/protocol/objects.ts";
import type { Model, SessionRow } from "../../../../src/protocol/rest-objects.ts";
import { agent } from "./events.ts";

const row: SessionRow = {
  id: agent,
  title: null,
  label: null,
  prompt: "rename the flag",
  cwd: "/srv/app",
  runtime: "acp",
  model: null,
  parent: null,
  started: "2025-09-11T14:13:20.000Z",
  updated: "2025-09-11T14:15:00.000Z",
  bytes: 10,
  state: "idle",
  live: false,
  workspace: null,
  tab: null,
  damaged: false,
};
const facts = { clients: 2, open: { permissions: 1, questions: 0 }, lastTurnFailed: true, usage: null };

describe("rows of lists", () => {
  it("tell of a session what its row tells, in milliseconds", () => {
    expect(sessionInfo(row, facts)).toEqual({
      session_id: sessionIdOf(agent),
      state: "idle",
      created_at: 1_757_600_000_000,
      last_message_at: 1_757_600_100_000,
      client_count: 2,
      last_turn_failed: true,
      archived: false,
      pinned: false,
      pending_permissions: 1,
      pending_questions: 0,
      provider: "acp",
      cwd: "/srv/app",
      workspace_path: "/srv/app",
      first_message: "rename the flag",
    });
  });

  it("show a title where clients look for one, and leave out what is unknown", () => {
    const titled = sessionInfo({ ...row, title: "T", model: "m", pinned: true, archived: true }, facts);
    expect(titled).toMatchObject({ title: "T", summary: "T", model: "m", pinned: true, archived: true });
    const bare = sessionInfo({ ...row, prompt: null, cwd: null, runtime: null, started: null }, facts);
    expect(bare).not.toHaveProperty("cwd");
    expect(bare).not.toHaveProperty("provider");
    expect(bare.created_at).toBe(bare.last_message_at);
  });

  it.each([
    ["running", true, "running"],
    ["waiting", true, "running"],
    ["idle", true, "active"],
    ["idle", false, "idle"],
    ["closed", false, "idle"],
  ] as const)("call a session that is %s (live: %s) %s", (state, live, expected) => {
    expect(sessionState({ state, live })).toBe(expected);
  });
});

describe("values by the names of the dialect", () => {
  it.each([
    ["standard", "ask"],
    ["permissive", "edits"],
    ["dangerous", "autopilot"],
    ["autopilot", "autopilot"],
    ["auto", null],
    ["auto_plus", null],
    ["", null],
    ["__proto__", null],
  ] as const)("read the permission mode %j as %s", (raw, mode) => {
    expect(readMode(raw)).toBe(mode);
  });

  it("name every mode so that it is read again", () => {
    expect(modes.map((mode) => readMode(modeName(mode)))).toEqual(modes);
  });

  it.each([
    [
      ["1", "2"],
      [1, 2],
    ],
    [
      ["7", "3"],
      [7, 3],
    ],
    [
      ["1", "1"],
      [1, 2],
    ],
    [
      ["01", "1"],
      [1, 2],
    ],
    [
      ["a", "2"],
      [1, 2],
    ],
    [
      ["-1", "2"],
      [1, 2],
    ],
    [
      ["99999999999", "2"],
      [1, 2],
    ],
  ])("number the todos %j as %j", (ids, numbers) => {
    expect(todoList(ids.map((id) => ({ id, content: "", status: "" }))).map(({ id }) => id)).toEqual(numbers);
  });

  const models: Model[] = [
    { id: "small", runtime: "acp", name: "small", context_tokens: null },
    { id: "acme/large", runtime: "model", name: "Large", context_tokens: 128_000, thinking: ["low", "high"] },
  ];

  it("describe a model, and find it by what the description says", () => {
    expect(models.map(modelInfo)).toEqual([
      { id: "acp/small", provider: "acp", model: "small" },
      {
        id: "model/acme/large",
        provider: "model",
        model: "acme/large",
        description: "Large",
        thinking_variants: [{ name: "low" }, { name: "high" }],
        context_window: 128_000,
      },
    ]);
    for (const model of models) {
      const { provider, model: name } = modelInfo(model);
      expect(findModel(models, provider, name)).toBe(model);
    }
    expect(findModel(models, "acme", "large")).toBe(models[1]);
    expect(findModel(models, "", "small")).toBe(models[0]);
    expect(findModel(models, "acme", "small")).toBeNull();
  });
});
