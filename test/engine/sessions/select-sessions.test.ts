import { describe, expect, it } from "vitest";
import { type SessionQuery, selectSessions } from "../../../src/engine/sessions/select-sessions.ts";
import type { SessionFacts } from "../../../src/engine/sessions/session-facts.ts";
import { newestFirst } from "../../../src/engine/sessions/session-index.ts";
import type { SallyportError } from "../../../src/errors.ts";
import { newId } from "../../../src/lib/ids.ts";

function facts(fields: Partial<SessionFacts>): SessionFacts {
  return {
    id: newId(),
    bytes: 1,
    mtime_ms: 1,
    updated_ms: 1,
    started: null,
    label: null,
    title: null,
    prompt: null,
    cwd: "/a",
    runtime: "shell",
    model: null,
    parent: null,
    context_tokens: null,
    damaged: false,
    ...fields,
  };
}
const all: SessionQuery = { cwd: null, limit: 100, subagents: false, before: null, search: null };
// Many of the same time: the id decides then.
const rows = Array.from({ length: 25 }, (_, index) => facts({ updated_ms: Math.floor(index / 5) })).sort(
  newestFirst,
);

describe("selectSessions", () => {
  it("pages through all without a gap or a double, also when newer ones come meanwhile", () => {
    const seen: string[] = [];
    let sorted = rows;
    let before: string | null = null;
    do {
      const page = selectSessions(sorted, { ...all, limit: 4, before });
      seen.push(...page.rows.map((row) => row.id));
      before = page.next;
      sorted = [facts({ updated_ms: 99 }), ...sorted];
    } while (before !== null);
    expect(seen).toEqual(rows.map((row) => row.id));
  });

  it("tells that there is no further page when the last one is full", () => {
    expect(selectSessions(rows, { ...all, limit: 25 }).next).toBeNull();
    expect(selectSessions([], all)).toEqual({ rows: [], next: null });
  });

  it("leaves subagents out unless they are asked for", () => {
    const pair = [facts({ updated_ms: 2, parent: newId() }), facts({ updated_ms: 1 })];
    expect(selectSessions(pair, all).rows).toEqual([pair[1]]);
    expect(selectSessions(pair, { ...all, subagents: true }).rows).toEqual(pair);
  });

  it("keeps those of one folder, and those with all the words in title, label or prompt", () => {
    const some = [
      facts({ cwd: "/b", title: "Fix the Parser" }),
      facts({ label: "parser", prompt: "please fix" }),
      facts({ prompt: "parse" }),
    ];
    expect(selectSessions(some, { ...all, cwd: "/b" }).rows).toEqual([some[0]]);
    expect(selectSessions(some, { ...all, search: " PARSER fix " }).rows).toEqual([some[0], some[1]]);
  });

  it.each(["", "x", "1", "1-", "1-zz", `1e5-${newId()}`])("refuses the position %j", (before) => {
    try {
      selectSessions(rows, { ...all, before });
      expect.unreachable();
    } catch (error) {
      expect((error as SallyportError).code).toBe("invalid_field");
      expect((error as SallyportError).field).toBe("before");
    }
  });
});
