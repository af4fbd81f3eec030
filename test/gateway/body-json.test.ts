import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { jsonExcess, parseUntrustedJson } from "../../src/gateway/body-json.ts";
import { limits } from "../../src/protocol/limits.ts";

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
        expect(jsonExcess(bytes, { maxDepth: depth, maxMarks: Infinity })).toBeNull();
        if (depth > 0) expect(jsonExcess(bytes, { maxDepth: depth - 1, maxMarks: Infinity })).toBe("depth");
      }),
    );
  });

  it("does not count what stands in strings, behind escaped quotes too", () => {
    const excessOf = (text: string, maxDepth: number, maxMarks = Infinity) =>
      jsonExcess(Buffer.from(text), { maxDepth, maxMarks });
    expect(excessOf('["\\"[[[[\\\\"]', 1)).toBeNull();
    expect(excessOf('["\\\\",[[0]]]', 2)).toBe("depth");
    expect(excessOf('{"a,:[{":"b,:[{"}', 1, 2)).toBeNull();
  });
});

describe("the values of JSON", () => {
  it.each(["[0,0,0]", '{"a":[]}', "[{},{}]", '{"a":0,"b":0}', "[[[[]]]]"])("are counted: %s", (text) => {
    const marks = (text.match(/[,:[{]/g) ?? []).length;
    const bytes = Buffer.from(text);
    expect(jsonExcess(bytes, { maxDepth: 9, maxMarks: marks })).toBeNull();
    expect(jsonExcess(bytes, { maxDepth: 9, maxMarks: marks - 1 })).toBe("marks");
  });

  it("are refused where a parser would spend long on them", () => {
    const many = limits.jsonMarks / 2 + 1;
    const keys = `{${Array.from({ length: many }, (_, at) => `"k${at}":1`).join(",")}}`;
    for (const text of [keys, `[${"0,".repeat(2 * many)}0]`, `[${"[],".repeat(many)}0]`])
      expect(() => parseUntrustedJson(Buffer.from(text))).toThrow(/too many values/);
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
