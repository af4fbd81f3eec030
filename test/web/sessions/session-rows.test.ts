import { describe, expect, it } from "vitest";
import type { SessionRow } from "../../../src/protocol/rest-objects.ts";
import {
  dropSession,
  groupSessions,
  mergeSessions,
  rawSessionName,
  replaceSession,
} from "../../../web/sessions/session-rows.ts";

function row(id: string, more: Partial<SessionRow> = {}): SessionRow {
  return {
    id,
    title: null,
    label: null,
    prompt: null,
    cwd: "/srv/api",
    runtime: "shell",
    model: null,
    parent: null,
    started: null,
    updated: "2026-11-30T12:00:00.000Z",
    bytes: 1,
    state: "closed",
    live: false,
    workspace: null,
    tab: null,
    damaged: false,
    pinned: false,
    archived: false,
    ...more,
  };
}
const ids = (rows: readonly SessionRow[]): readonly string[] => rows.map(({ id }) => id);

describe("the list of sessions", () => {
  it("adds a further page without repeating one that moved in the meantime", () => {
    expect(ids(mergeSessions([row("a"), row("b")], [row("b"), row("c")]))).toEqual(["a", "b", "c"]);
  });
  it("shows a change of a row in place, and leaves a row of another search out", () => {
    const rows = [row("a"), row("b")];
    expect(replaceSession(rows, row("b", { title: "new" }))[1]?.title).toBe("new");
    expect(replaceSession(rows, row("z"))).toBe(rows);
    expect(ids(dropSession(rows, "a"))).toEqual(["b"]);
    expect(dropSession(rows, "z")).toBe(rows);
  });
  it("puts pinned ones first and those put away apart, a pinned one that was put away too", () => {
    const groups = groupSessions([
      row("a"),
      row("b", { pinned: true }),
      row("c", { archived: true, pinned: true }),
    ]);
    expect([ids(groups.pinned), ids(groups.others), ids(groups.archived)]).toEqual([["b"], ["a"], ["c"]]);
  });
  it("calls a session by its title, else by what was asked first, else by its label", () => {
    expect(rawSessionName(row("a", { title: "t", prompt: "p", label: "l" }))).toBe("t");
    expect(rawSessionName(row("a", { prompt: "p", label: "l" }))).toBe("p");
    expect(rawSessionName(row("a", { label: "l" }))).toBe("l");
    expect(rawSessionName(row("a"))).toBe("Without a prompt");
  });
});
