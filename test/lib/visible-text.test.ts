import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { plainText, plainTextStream, visibleText } from "../../src/lib/visible-text.ts";

const anyText = fc.oneof(
  fc.string({ unit: "binary", maxLength: 40 }),
  fc.string({
    unit: fc.constantFrom(
      "\u001b",
      "[",
      "]",
      "3",
      "1",
      ";",
      "m",
      "8",
      "\u0007",
      "\\",
      "\n",
      "\r",
      "\t",
      "a",
      "\u009b",
      "\u202e",
      "⟨",
      "U+202E⟩",
      "é",
    ),
    maxLength: 30,
  }),
);

describe("visibleText", () => {
  it.each([
    ["git status", "git status"],
    ["a\nb", "a\nb"],
    ["a\tb", "a⟨U+0009⟩b"],
    ["a\r\nb", "a⟨U+000D⟩\nb"],
    ["\u001b[31m", "⟨U+001B⟩[31m"],
    ["\0", "⟨U+0000⟩"],
    ["\u007f\u009b", "⟨U+007F⟩⟨U+009B⟩"],
    ["rm \u202egnp.exe", "rm ⟨U+202E⟩gnp.exe"],
    ["\u2066\u2069\u200f\u061c", "⟨U+2066⟩⟨U+2069⟩⟨U+200F⟩⟨U+061C⟩"],
    ["a\u200bb\ufeff", "a⟨U+200B⟩b⟨U+FEFF⟩"],
    ["a\u00a0b\u3000", "a⟨U+00A0⟩b⟨U+3000⟩"],
    ["\u2028", "⟨U+2028⟩"],
    ["\u{e0041}", "⟨U+E0041⟩"],
    ["\u3164\u2800", "⟨U+3164⟩⟨U+2800⟩"],
    ["\ufe0f", "⟨U+FE0F⟩"],
    ["\ud800", "⟨U+D800⟩"],
    ["⟨U+202E⟩", "⟨U+202E⟩"],
    ["⟨U+202E", "⟨U+27E8⟩U+202E"],
    ["⟨u+202e⟩", "⟨U+27E8⟩u+202e⟩"],
    ["größe 你好 😀", "größe 你好 😀"],
  ])("shows %j as %j", (text, shown) => {
    expect(visibleText(text)).toBe(shown);
  });

  it("leaves nothing hidden and can be read back", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const shown = visibleText(text);
        expect(shown.replace(/\n/g, "")).not.toMatch(/[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u);
        const back = shown.replace(/⟨U\+([0-9A-F]{4,6})⟩/g, (_, code: string) =>
          String.fromCodePoint(Number.parseInt(code, 16)),
        );
        if (!/⟨U\+[0-9A-F]{4,6}⟩/.test(text)) expect(back).toBe(text);
        expect(visibleText(shown)).toBe(shown);
      }),
    );
  });
});

describe("plainText", () => {
  it.each([
    ["My phone", "My phone"],
    ["a\nb\tc", "a b c"],
    ["a\r\nb", "a b"],
    ["\u001b[31mred\u001b[0m", "red"],
    ["\u001b[2J\u001b[Hx", "x"],
    ["\u009b2Jx", "x"],
    ["\u001b]0;title\u0007x", "x"],
    ["\u001b]8;;http://evil\u001b\\x", "x"],
    ["\u001bP1;2|data\u001b\\x", "x"],
    ["\u001bcx", "x"],
    ["\u001b(0x", "x"],
    ["\u001b]0;no end", "]0;no end"],
    ["a\u0008b\u0007", "ab"],
    ["\u202eabc\u2066", "abc"],
    ["a\u200bb", "ab"],
    ["größe 😀", "größe 😀"],
  ])("of %j is %j", (text, plain) => {
    expect(plainText(text)).toBe(plain);
  });

  it.each([
    ["\u001b[31mred\u001b[0m", true],
    ["\u001b[1;38;5;200mx\u001b[m", true],
    ["\u001b[48;2;1;2;3mx", true],
    ["\u001b[8mhidden", false],
    ["\u001b[1;8mhidden", false],
    ["\u001b[38;5mx", false],
    ["\u001b[38;8;1mx", false],
    ["\u001b[>4;2mx", false],
    ["\u001b[31 mx", false],
    ["\u001b[2Kx", false],
    ["\u009b31mx", false],
  ])("on a terminal lets %j pass: %s", (text, passes) => {
    const plain = plainText(text, { colours: true });
    if (passes) expect(plain).toBe(text);
    else expect(plain).not.toContain("\u001b");
  });

  it("keeps lines and tabs of logs", () => {
    expect(plainText("a\r\nb\tc\u0007\n", { lines: true })).toBe("a\nb\tc\n");
    expect(plainText("10%\r20%", { lines: true })).toBe("10%20%");
  });

  it("never lets a control or bidi character through, nor makes a sequence by removing another", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(plainText(text)).not.toMatch(/[\p{C}\u2028\u2029]/u);
        const coloured = plainText(text, { colours: true, lines: true });
        expect(coloured.replace(/\u001b\[[0-9;]*m/g, "").replace(/[\n\t]/g, "")).not.toMatch(/\p{C}/u);
        expect(plainText(coloured, { colours: true, lines: true })).toBe(coloured);
      }),
      { numRuns: 1_000 },
    );
  });
});

describe("plainTextStream", () => {
  it("waits for the rest of a sequence", () => {
    const filter = plainTextStream({ lines: true, colours: true });
    expect(filter("a\u001b[3")).toBe("a");
    expect(filter("1mred\r")).toBe("\u001b[31mred");
    expect(filter("\nx\u001b", true)).toBe("\nx");
  });
  it("lets nothing through however the text is cut, and holds at most 4 KiB back", () => {
    fc.assert(
      fc.property(fc.array(anyText, { maxLength: 6 }), (chunks) => {
        const filter = plainTextStream({ lines: true, colours: true });
        const streamed = chunks.map((chunk) => filter(chunk)).join("") + filter("", true);
        expect(streamed.replace(/\u001b\[[0-9;]*m/g, "").replace(/[\n\t]/g, "")).not.toMatch(/\p{C}/u);
      }),
    );
    const filter = plainTextStream({ lines: true });
    expect(filter(`\u001b]${"x".repeat(10_000)}`).length).toBeGreaterThan(5_000);
  });
});
