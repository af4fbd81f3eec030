import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ansiClasses, plainStyle, styleAfter } from "../../../web/ansi/sgr.ts";

const classesOf = (parameters: string): string => ansiClasses(styleAfter(plainStyle, parameters));

describe("styleAfter", () => {
  it.each([
    ["", ""],
    ["0", ""],
    ["1;31", "ansi-bold ansi-fg-1"],
    ["91", "ansi-fg-9"],
    ["44", "ansi-bg-4"],
    ["107", "ansi-bg-15"],
    ["31;39", ""],
    ["1;22", ""],
    ["2;3;4;9", "ansi-dim ansi-italic ansi-underline ansi-strike"],
    ["4:3", "ansi-underline"],
    ["4:0", ""],
    ["7", "ansi-inverse"],
    ["7;31", "ansi-bg-1"],
    ["31;42;7", "ansi-fg-2 ansi-bg-1"],
    ["38;5;3", "ansi-fg-3"],
    ["38;5;196", "ansi-fg-9"],
    ["38;5;208", "ansi-fg-11"],
    ["38;5;244;1", "ansi-bold ansi-fg-8"],
    ["38;2;255;0;0", "ansi-fg-9"],
    ["38:2::0:0:255", "ansi-fg-12"],
    ["48;2;0;0;0", "ansi-bg-0"],
    ["38;5;256", ""],
    ["38", ""],
    ["38;5", ""],
    ["38;2;1;2", ""],
    ["999;1", "ansi-bold"],
  ])("%j looks as %j", (parameters, classes) => {
    expect(classesOf(parameters)).toBe(classes);
  });

  it("does not obey concealed: what a program prints cannot be hidden from its reader", () => {
    expect(styleAfter(plainStyle, "8")).toEqual(plainStyle);
  });

  it("takes any parameters and yields a colour that the style sheet knows", () => {
    const parameters = fc.string({ unit: fc.constantFrom(..."0123456789;:"), maxLength: 200 });
    fc.assert(
      fc.property(parameters, (text) => {
        const { fg, bg } = styleAfter(plainStyle, text);
        for (const color of [fg, bg]) if (color !== null) expect([...Array(16).keys()]).toContain(color);
      }),
    );
  });
});
