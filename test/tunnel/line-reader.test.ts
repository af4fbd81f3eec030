import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createLineReader } from "../../src/tunnel/line-reader.ts";

const push = (reader: ReturnType<typeof createLineReader>, text: string) => reader.push(Buffer.from(text));

describe("createLineReader", () => {
  it("yields whole lines, however they come and whatever ends them", () => {
    const reader = createLineReader(100);
    expect(push(reader, "one\ntw")).toEqual(["one"]);
    expect(push(reader, "o\r\nthree\rfour")).toEqual(["two", "three"]);
    expect(reader.peek()).toBe("four");
    expect(push(reader, " goes on\n\n\n")).toEqual(["four goes on"]);
    expect(reader.peek()).toBeNull();
  });

  it("shows a line without end and goes on with it", () => {
    const reader = createLineReader(100);
    push(reader, "Connecting");
    expect(reader.peek()).toBe("Connecting");
    expect(push(reader, ": https://one.example\n")).toEqual(["Connecting: https://one.example"]);
  });

  it("a line without any end comes in parts, with a word at a cut whole in one of them", () => {
    const reader = createLineReader(1_000);
    const parts = push(reader, `${"x".repeat(990)}https://one.example${"y".repeat(5_000)}`);
    expect(parts.every((part) => part.length <= 1_000)).toBe(true);
    expect(parts.some((part) => part.includes("https://one.example"))).toBe(true);
    expect(push(reader, "\nnext\n").at(-1)).toBe("next");
  });

  it("skips what does not hold the word, and not what holds it, also where two chunks meet", () => {
    const reader = createLineReader(1_000);
    expect(reader.skip(Buffer.from("abc\ndef ht"), "http")).toBe(true);
    expect(reader.skip(Buffer.from("tp://one.example\n"), "http")).toBe(false);
    expect(push(reader, "tp://one.example\n")).toEqual(["def http://one.example"]);
    expect(reader.skip(Buffer.from("no end"), "http")).toBe(true);
    expect(push(reader, "\n")).toEqual(["no end"]);
  });

  it("loses no short line and holds little, whatever the chunks", () => {
    fc.assert(
      fc.property(fc.array(fc.array(fc.stringMatching(/^[a-z]{0,30}$/)), { maxLength: 20 }), (groups) => {
        const reader = createLineReader(64);
        const got = groups.flatMap((words) => push(reader, words.map((word) => `${word}\n`).join("")));
        expect(got).toEqual(groups.flat().filter((word) => word !== ""));
      }),
    );
  });
});
