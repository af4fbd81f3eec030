import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createStriker } from "../../../src/engine/runtimes/strike-secrets.ts";

const secrets = ["sk-abc-123456", "sk-abc", "tok_ffff"];

describe("createStriker", () => {
  const striker = createStriker(secrets);

  it.each([
    ["nothing", "nothing"],
    ["key sk-abc-123456!", "key [secret]!"],
    ["sk-abc-12345", "[secret]-12345"],
    ["sk-abcsk-abc-123456tok_ffff", "[secret][secret][secret]"],
    ["sk-ab", "sk-ab"],
    ["", ""],
  ])("strikes out %j", (text, struck) => {
    expect(striker.text(text)).toBe(struck);
  });

  it("strikes out every text in a value, names too, and leaves what is no plain value", () => {
    const { signal } = new AbortController();
    expect(striker.value({ a: ["tok_ffff", 1, null], "x tok_ffff": { b: true }, signal })).toEqual({
      a: ["[secret]", 1, null],
      "x [secret]": { b: true },
      signal,
    });
    expect(createStriker([]).value(signal)).toBe(signal);
  });

  it("holds back only what could be the beginning of a secret", () => {
    const stream = striker.stream();
    expect(stream.push("a key: s")).toBe("a key: ");
    expect(stream.push("k-abd t")).toBe("sk-abd ");
    expect(stream.push("ok_ff")).toBe("");
    expect(stream.push("ff.")).toBe("[secret].");
    expect(stream.push("sk-abc")).toBe("");
    expect(stream.flush()).toBe("[secret]");
    expect(stream.flush()).toBe("");
  });

  it("shows the same in pieces as at once, however a text is cut, and never a secret", () => {
    const part = fc.oneof(
      fc.constantFrom(...secrets, "sk-", "sk-abc-", "tok_fff", "s", "t", "k"),
      fc.string({ maxLength: 6 }),
    );
    fc.assert(
      fc.property(fc.array(part), fc.array(fc.nat({ max: 9 })), (parts, cuts) => {
        const text = parts.join("");
        const stream = striker.stream();
        let shown = "";
        let at = 0;
        for (const cut of cuts) {
          shown += stream.push(text.slice(at, at + cut));
          at += cut;
        }
        shown += stream.push(text.slice(at)) + stream.flush();
        expect(shown).toBe(striker.text(text));
        for (const secret of secrets) expect(shown).not.toContain(secret);
      }),
    );
  });

  it("flood: a text of nothing but beginnings takes no more than its length", () => {
    const stream = createStriker(["a".repeat(100)]).stream();
    const text = "a".repeat(99);
    let shown = "";
    for (let n = 0; n < 2_000; n += 1) shown += stream.push(`${text}b`);
    expect(shown).toHaveLength(200_000);
  });
});
