import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { nestsDeeperThan, parseUntrustedJson } from "../../src/gateway/body-json.ts";

function depthOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

describe("the depth of JSON", () => {
  it("is what a parser would find, for any value and any strings in it", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 8, stringUnit: "binary" }), (value) => {
        const bytes = Buffer.from(JSON.stringify(value));
        const depth = depthOf(JSON.parse(bytes.toString()));
        expect(nestsDeeperThan(bytes, depth)).toBe(false);
        if (depth > 0) expect(nestsDeeperThan(bytes, depth - 1)).toBe(true);
      }),
    );
  });

  it("does not count what stands in strings, behind escaped quotes too", () => {
    expect(nestsDeeperThan(Buffer.from('["\\"[[[[\\\\"]'), 1)).toBe(false);
    expect(nestsDeeperThan(Buffer.from('["\\\\",[[0]]]'), 2)).toBe(true);
  });
});

describe("parsing untrusted JSON", () => {
  it("gives what JSON.parse gives, or throws bad_request, for any bytes", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (raw) => {
        try {
          parseUntrustedJson(Buffer.from(raw));
        } catch (error) {
          expect(error).toMatchObject({ code: "bad_request" });
        }
      }),
    );
  });

  it("takes the text __proto__ where it is a value", () => {
    const value = { text: '"__proto__":', "my __proto__": "__proto__" };
    expect(parseUntrustedJson(Buffer.from(JSON.stringify(value)))).toEqual(value);
  });
});
