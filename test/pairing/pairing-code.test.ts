import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatPairingCode, newPairingCode, parsePairingCode } from "../../src/pairing/pairing-code.ts";

describe("pairing codes", () => {
  it("are ten characters without I, L, O and U, shown in two halves", () => {
    for (let count = 0; count < 200; count += 1)
      expect(formatPairingCode(newPairingCode())).toMatch(/^[0-9A-HJKMNP-TV-Z]{5}-[0-9A-HJKMNP-TV-Z]{5}$/);
  });

  it("use the whole alphabet", () => {
    const seen = new Set(Array.from({ length: 400 }, newPairingCode).join(""));
    expect(seen.size).toBe(32);
  });

  it.each([
    ["ABCDE-FGHJK", "ABCDEFGHJK"],
    ["abcde fghjk", "ABCDEFGHJK"],
    ["abcdefghjk", "ABCDEFGHJK"],
    [" a-b-c-d-e f g h j k\n", "ABCDEFGHJK"],
    ["ABCDE–FGHJK", "ABCDEFGHJK"],
    ["ABCDE\u00a0FGHJK", "ABCDEFGHJK"],
    ["oOiIl-L0123", "0011110123"],
    ["A\u2010B\u2011CDEFGHJK", "ABCDEFGHJK"],
  ])("are read from %j", (raw, code) => {
    expect(parsePairingCode(raw)).toBe(code);
  });

  it.each([
    "",
    "-",
    "ABCDE-FGHJ",
    "ABCDE-FGHJKM",
    "ABCDE-FGHJU",
    "ABCDE-FGHJ!",
    "ABCDE_FGHJK",
    "ABCDE-FGHJé",
    "ABCDE-FGHJſ",
    "ABCDE-FGHJı",
    "ＡBCDE-FGHJK",
    "ABCDE\0FGHJK",
    `ABCDE${" ".repeat(60)}FGHJK`,
    "A".repeat(1_000_000),
  ])("malformed: are not read from %j", (raw) => {
    expect(parsePairingCode(raw)).toBeNull();
  });

  it("come back however they are typed", () => {
    const typed = fc.tuple(
      fc.array(fc.constantFrom("", "-", " "), { minLength: 10, maxLength: 10 }),
      fc.array(fc.boolean(), { minLength: 10, maxLength: 10 }),
      fc.array(fc.nat(), { minLength: 10, maxLength: 10 }),
    );
    const twins: Record<string, string> = { "0": "0Oo", "1": "1IiLl" };
    fc.assert(
      fc.property(typed, ([separators, lower, choices]) => {
        const code = newPairingCode();
        const raw = [...code]
          .map((char, index) => {
            const twin = twins[char]?.charAt((choices[index] ?? 0) % (twins[char]?.length ?? 1)) ?? char;
            return (lower[index] ? twin.toLowerCase() : twin) + separators[index];
          })
          .join("");
        expect(parsePairingCode(raw)).toBe(code);
      }),
    );
  });

  it("are never read from other text, and nothing makes the parser throw", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (raw) => {
        const code = parsePairingCode(raw);
        expect(code === null || /^[0-9A-HJKMNP-TV-Z]{10}$/.test(code)).toBe(true);
      }),
    );
  });
});
