import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { splitTrailingBackground } from "../../../src/engine/rules/trailing-background.ts";

describe("splitTrailingBackground", () => {
  it.each([
    ["npm test &", "npm test"],
    ["npm test&", "npm test"],
    ["  npm test  &  \n", "npm test"],
    ["a && b &", "a && b"],
    ["a; b &", "a; b"],
    ["a & b &", "a & b"],
    ["(a; b) &", "(a; b)"],
    ["a $X > out 2>&1 &", "a $X > out 2>&1"],
    ["a 2>&1&", "a 2>&1"],
    ["a & # in the background", "a"],
    ["echo '#' &", "echo '#'"],
    ["echo \\& &", "echo \\&"],
    ["a\nb &", "a\nb"],
  ])("of %j is %j", (line, command) => {
    expect(splitTrailingBackground(line)).toBe(command);
  });

  it.each([
    "npm test",
    "a & b",
    "a &&",
    "a |&",
    "a |& b",
    "a & &",
    "&",
    " & ",
    "echo \\&",
    "echo '&'",
    'echo "x &"',
    "echo 'x &",
    "# a &",
    "a # &",
    "a >&",
    "a 2>&",
    "{ a & }",
    "(a &)",
    "$(a &)",
    "if a; then b & fi",
    "f() { a & }",
    "cat <<E\n&\nE",
    "cat <<E &\nfoo\nE",
    "a &\r",
    "a &\u00a0",
    "a & \\\n",
    "",
    `a ${"(".repeat(200_000)} &`,
  ])("of %j is null", (line) => {
    expect(splitTrailingBackground(line)).toBeNull();
  });

  it("never throws and returns the beginning of the line", () => {
    const unit = fc.constantFrom(
      "a",
      "&",
      "|",
      ";",
      " ",
      "\n",
      "'",
      '"',
      "\\",
      "#",
      "$",
      "(",
      ")",
      "<",
      ">",
      "{",
      "}",
      "`",
    );
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 30 }), (line) => {
        const command = splitTrailingBackground(line);
        if (command !== null) expect(line.trim().startsWith(command)).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });
});
