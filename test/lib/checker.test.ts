import fc from "fast-check";
import { Type } from "typebox";
import { describe, expect, it } from "vitest";
import { createChecker } from "../../src/lib/checker.ts";

const schema = Type.Object(
  {
    version: Type.Literal(1),
    name: Type.String({ minLength: 1, maxLength: 4, pattern: "^[a-z]*$" }),
    kind: Type.Union([Type.Literal("a"), Type.Literal("b"), Type.Null()]),
    list: Type.Array(Type.Integer({ minimum: 0 }), { maxItems: 2, uniqueItems: true }),
    more: Type.Optional(Type.Record(Type.String(), Type.Boolean())),
  },
  { additionalProperties: false },
);
const good = { version: 1, name: "ab", kind: "a", list: [1, 2] };

describe("createChecker", () => {
  it.each([0, 16])("judges by the schema, walked %i times", (walks) => {
    const checker = createChecker(schema, { walks });
    expect(checker.check(good)).toBe(true);
    expect(checker.check({ ...good, more: { x: true } })).toBe(true);
    for (const wrong of [
      null,
      [],
      "x",
      {},
      { ...good, version: 2 },
      { ...good, name: "" },
      { ...good, name: "A" },
      { ...good, kind: "c" },
      { ...good, list: [1, 1] },
      { ...good, list: [-1] },
      { ...good, list: [1.5] },
      { ...good, more: { x: 1 } },
      { ...good, extra: 1 },
    ])
      expect(checker.check(wrong)).toBe(false);
    expect(checker.firstWrong({ ...good, kind: "c" })).toBe("/kind");
    expect(checker.firstWrong([])).toBe("");
  });

  it("judges alike whether it walks or runs what was made for the schema", () => {
    const near = fc.record(
      {
        version: fc.constantFrom(1, 2),
        name: fc.string({ maxLength: 5, unit: fc.constantFrom("a", "z", "A") }),
        kind: fc.constantFrom("a", "b", "c", null),
        list: fc.array(fc.constantFrom(0, 1, -1, 0.5), { maxLength: 3 }),
        more: fc.dictionary(fc.string(), fc.constantFrom(true, 1)),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.oneof(near, fc.jsonValue()), (value) => {
        const [walked, made] = [16, 0].map((walks) => createChecker(schema, { walks }).check(value));
        expect(walked).toBe(made);
      }),
    );
  });

  it("walks the first values only", () => {
    const checker = createChecker(schema, { walks: 2 });
    for (let count = 0; count < 5; count++) expect(checker.check(good)).toBe(true);
    expect(checker.compiled().Check(good)).toBe(true);
  });
});
