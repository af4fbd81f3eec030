import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseDeviceName } from "../../src/pairing/device-name.ts";

describe("parseDeviceName", () => {
  it.each([
    ["Pixel phone", "Pixel phone"],
    ["  work\tlaptop\n ", "work laptop"],
    ["Zoë’s phone 📱", "Zoë’s phone 📱"],
    ["電話", "電話"],
    ["evil\u202Egnp.exe", "evilgnp.exe"],
    ["a\u0000b\u001b[31mc\u007f", "ab[31mc"],
    ["zero\u200bwidth\ufeff", "zerowidth"],
    ["line\u2028break", "line break"],
    ["two \u200b words", "two words"],
    ["half \ud83d", "half"],
    ["x".repeat(64), "x".repeat(64)],
    ["📱".repeat(64), "📱".repeat(64)],
  ])("makes %j fit to be shown: %j", (raw, name) => {
    expect(parseDeviceName(raw)).toBe(name);
  });

  it.each(["", " ", "\u202e", "\n\n", "x".repeat(65), "x".repeat(60_000)])("refuses %j", (raw) => {
    expect(() => parseDeviceName(raw)).toThrow(
      expect.objectContaining({ code: "invalid_field", field: "name" }),
    );
  });

  it("gives a name that it would take again unchanged, or refuses", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 80 }), (raw) => {
        let name: string;
        try {
          name = parseDeviceName(raw);
        } catch (error) {
          expect(error).toMatchObject({ code: "invalid_field" });
          return;
        }
        expect(parseDeviceName(name)).toBe(name);
        expect(name).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}]/u);
      }),
    );
  });
});
