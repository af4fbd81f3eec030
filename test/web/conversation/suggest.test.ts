import { describe, expect, it } from "vitest";
import {
  completionAt,
  suggestCommands,
  suggestPaths,
  withSuggestion,
} from "../../../web/conversation/composer/suggest.ts";

describe("completionAt", () => {
  it.each([
    ["/", { kind: "command", typed: "", from: 0 }],
    ["/fi", { kind: "command", typed: "fi", from: 0 }],
    ["/deploy:st", { kind: "command", typed: "deploy:st", from: 0 }],
    ["/fix ", null],
    ["a /fix", null],
    ["/usr/bin", null],
    ["@", { kind: "path", folder: "", typed: "", from: 0 }],
    ["look at @src/st", { kind: "path", folder: "src/", typed: "st", from: 8 }],
    ["(@a/b/c", { kind: "path", folder: "a/b/", typed: "c", from: 1 }],
    ["@~/x", { kind: "path", folder: "~/", typed: "x", from: 0 }],
    ["me@example", null],
    ["@a b", null],
    ["", null],
  ])("of %j is %j", (text, expected) => {
    expect(completionAt(text, text.length)).toEqual(expected);
  });

  it("looks at what stands before the caret only", () => {
    expect(completionAt("/fix it", 3)).toEqual({ kind: "command", typed: "fi", from: 0 });
    expect(completionAt("/fix it", 7)).toBeNull();
  });

  it("is quick with a long text without a space", () => {
    expect(completionAt("@".repeat(200_000), 200_000)).toBeNull();
    expect(completionAt("a/".repeat(200_000), 400_000)).toBeNull();
  });
});

describe("suggestions", () => {
  const commands = [
    { name: "fix", description: "Fix a file", argument_hint: "<file>", source: "x" },
    { name: "prefix", description: null, argument_hint: null, source: "x" },
  ];

  it("offer the commands of the project and the daemon's own, best first", () => {
    expect(suggestCommands(commands, "").map(({ label }) => label)).toEqual([
      "/context",
      "/fix <file>",
      "/prefix",
    ]);
    expect(suggestCommands(commands, "FIX").map(({ text }) => text)).toEqual(["/fix ", "/prefix "]);
  });

  const entry = (name: string, kind: "file" | "folder" = "file") => ({
    name,
    kind,
    hidden: name.startsWith("."),
  });

  it("offer files to attach, and folders to go on in; hidden ones and such with spaces only when they can be meant", () => {
    const entries = [entry("src", "folder"), entry("store.ts"), entry(".env"), entry("a b.ts")];
    expect(suggestPaths(entries, "x/", "s")).toEqual([
      { label: "src/", detail: "folder", text: "@x/src/", attach: null },
      { label: "store.ts", detail: "", text: "@x/store.ts ", attach: "x/store.ts" },
    ]);
    expect(suggestPaths(entries, "", ".").map(({ label }) => label)).toEqual([".env", "store.ts"]);
  });

  it("take the place of what was typed, and leave the caret behind them", () => {
    const completion = completionAt("look at @sr today", 11);
    if (completion === null) throw new Error("nothing to complete");
    const folder = { label: "", detail: "", text: "@src/", attach: null };
    expect(withSuggestion("look at @sr today", 11, completion, folder)).toEqual({
      text: "look at @src/ today",
      caret: 13,
    });
    const file = { ...folder, text: "@src " };
    expect(withSuggestion("look at @sr today", 11, completion, file)).toEqual({
      text: "look at @src today",
      caret: 13,
    });
  });
});
