import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { highlightCode, maxHighlightChars } from "../../../web/markdown/highlight.ts";
import { languageOf } from "../../../web/markdown/languages.ts";

describe("highlightCode", () => {
  it("yields the code in pieces that say what each is", async () => {
    const pieces = await highlightCode('const a = "b"; // c', "typescript");
    expect(pieces?.map(({ text }) => text).join("")).toBe('const a = "b"; // c');
    expect(pieces).toContainEqual({ text: "const", classes: "hljs-keyword" });
    expect(pieces).toContainEqual({ text: "// c", classes: "hljs-comment" });
  });

  it("loses nothing of any code, and lets no class of a hostile text through", async () => {
    const code = fc.string({ unit: fc.constantFrom(..."<>/\"'=&;{}()[] abc\n\\#$`*"), maxLength: 120 });
    await fc.assert(
      fc.asyncProperty(
        code,
        fc.constantFrom("typescript", "bash", "xml", "python", "yaml"),
        async (text, name) => {
          const pieces = await highlightCode(text, languageOf(name) ?? "json");
          expect(pieces?.map((piece) => piece.text).join("")).toBe(text);
          for (const { classes } of pieces ?? []) expect(classes).toMatch(/^(?:[a-z_-]+ ?)*$/);
        },
      ),
      { numRuns: 60 },
    );
  });

  it("leaves what is large plain", async () => {
    expect(await highlightCode("a\n".repeat(maxHighlightChars), "json")).toBeNull();
    expect(await highlightCode("a".repeat(3_000), "json")).toBeNull();
  });
});

describe("languageOf", () => {
  it.each([
    ["ts", "typescript"],
    ["TSX", "typescript"],
    ['js title="x"', "javascript"],
    ["rust,ignore", "rust"],
    ["{.python}", null],
    ["", null],
    ["brainfuck", null],
    ["__proto__", null],
    ["constructor", null],
    ["toString", null],
  ])("reads %j as %j", (name, language) => {
    expect(languageOf(name)).toBe(language);
  });
});
