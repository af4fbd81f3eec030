import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cleanLabel, makeValueVisible, makeVisible } from "../../src/engine/visible-text.ts";

describe("makeVisible", () => {
  it.each([
    ["cargo test", "cargo test"],
    ["naïve café — 日本語 ✓ 🙂", "naïve café — 日本語 ✓ 🙂"],
    ["a\u202eb", "a⟨U+202E⟩b"],
    ["a\u2066b\u2069", "a⟨U+2066⟩b⟨U+2069⟩"],
    ["a\u200bb\u200db\ufeff", "a⟨U+200B⟩b⟨U+200D⟩b⟨U+FEFF⟩"],
    ["a\nb\tc\rd", "a⟨U+000A⟩b⟨U+0009⟩c⟨U+000D⟩d"],
    ["\u001b[2Jx\u007f\u0085", "⟨U+001B⟩[2Jx⟨U+007F⟩⟨U+0085⟩"],
    ["a\u00a0b\u3000c\u2028", "a⟨U+00A0⟩b⟨U+3000⟩c⟨U+2028⟩"],
    ["\u{e0041}\u{e0100}\ufe0f", "⟨U+E0041⟩⟨U+E0100⟩⟨U+FE0F⟩"],
    ["\ud800", "⟨U+D800⟩"],
    ["⟨U+202E⟩", "⟨U+27E8⟩U+202E⟩"],
  ])("writes %j as %j", (raw, shown) => {
    expect(makeVisible(raw, { keepLayout: false })).toBe(shown);
  });

  it("keeps newlines and tabs where text is shown in lines, and nothing else", () => {
    expect(makeVisible("a\n\tb\r\u202e", { keepLayout: true })).toBe("a\n\tb⟨U+000D⟩⟨U+202E⟩");
  });

  it("loses nothing: what is shown can be turned back, and holds nothing invisible", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (raw) => {
        const shown = makeVisible(raw, { keepLayout: false });
        expect(shown).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u);
        const back = shown.replace(/⟨U\+([0-9A-F]+)⟩/g, (_, code) =>
          String.fromCodePoint(Number.parseInt(code, 16)),
        );
        expect(back).toBe(raw);
      }),
    );
  });

  it("reaches every string inside a value, keys too", () => {
    expect(makeValueVisible({ "k\u202e": ["a\u202e", { b: "\u0000", n: 1, t: true, z: null }] })).toEqual({
      "k⟨U+202E⟩": ["a⟨U+202E⟩", { b: "⟨U+0000⟩", n: 1, t: true, z: null }],
    });
  });
});

describe("cleanLabel", () => {
  it.each([
    ["  my\ttab\n ", "my tab"],
    ["a\u202eb\u0000c", "abc"],
    ["👨‍👩‍👧", "👨‍👩‍👧"],
    ["\u202e\u200b", ""],
    ["x".repeat(300), `${"x".repeat(199)}…`],
  ])("makes of %j the label %j", (raw, label) => {
    expect(cleanLabel(raw, 200)).toBe(label);
  });
});
