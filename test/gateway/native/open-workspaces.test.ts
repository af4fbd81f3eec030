import { describe, expect, it } from "vitest";
import { createOpenWorkspaces } from "../../../src/gateway/native/open-workspaces.ts";

describe("createOpenWorkspaces", () => {
  it("counts who has which workspace open, through changes and ends", () => {
    const open = createOpenWorkspaces();
    const one = open.add("a");
    const two = open.add("a");
    two.change("b");
    expect([one.id, two.id, open.isOpen("a"), open.isOpen("b")]).toEqual(["a", "b", true, true]);
    one.end();
    one.end();
    expect(open.isOpen("a")).toBe(false);
    two.change("a");
    expect([open.isOpen("a"), open.isOpen("b")]).toEqual([true, false]);
    two.end();
    two.change("b");
    expect([open.isOpen("a"), open.isOpen("b")]).toEqual([false, false]);
  });
});
