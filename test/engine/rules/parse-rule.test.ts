import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { pieceMatch, wordsMatch } from "../../../src/engine/rules/match-words.ts";
import { parseRule } from "../../../src/engine/rules/parse-rule.ts";
import { SallyportError } from "../../../src/errors.ts";

function words(rule: string) {
  const parsed = parseRule(rule);
  if (parsed.tool !== "bash" || parsed.kind !== "words") throw new Error("not a rule of words");
  return parsed.words;
}

describe("parseRule", () => {
  it.each([
    ["", "bash(COMMAND)"],
    ["git status", "bash(COMMAND)"],
    ["bash()", "bash(COMMAND)"],
    ["bash(  )", "bash(COMMAND)"],
    ["Bash(ls)", "bash(COMMAND)"],
    ["bash(ls", "bash(COMMAND)"],
    ["bash(ls $HOME)", "quote any other special character"],
    ["bash(ls > out)", "quote any other special character"],
    ["bash(ls 'x)", "quote any other special character"],
    ["bash(ls\tx)", "quote any other special character"],
    ["edit(../x)", "path pattern"],
    ["edit(~/x)", "path pattern"],
    ["edit(a//b)", "path pattern"],
    ["edit(a/)", "path pattern"],
    [`bash(${"x".repeat(9_000)})`, "bash(COMMAND)"],
  ])("refuses %j and says how to write it", (rule, advice) => {
    expect(() => parseRule(rule)).toThrow(SallyportError);
    expect(() => parseRule(rule)).toThrow(advice);
  });

  it.each([
    ["bash(git log *)", ["git", "log"], true],
    ["bash(git log *)", ["git", "log", "-p", "x"], true],
    ["bash(git log *)", ["git", "logs"], false],
    ["bash(git * push)", ["git", "-C", ".", "push"], true],
    ["bash(npm run test:*)", ["npm", "run", "test:unit"], true],
    ["bash(npm run test:*)", ["npm", "run", "test:unit", "x"], false],
    ["bash(*)", ["a", "b"], true],
    ["bash(grep '*' x)", ["grep", "*", "x"], true],
    ["bash(grep '*' x)", ["grep", "y", "x"], false],
    ["bash(''* x)", ["a", "b", "x"], false],
    ["bash(a**b)", ["axxb"], true],
  ])("%s on %j matches: %s", (rule, argv, expected) => {
    expect(wordsMatch(words(rule), argv)).toBe(expected);
  });

  it("matches an unknown word by a bare star only", () => {
    expect(wordsMatch(words("bash(rm *)"), ["rm", null])).toBe(true);
    expect(wordsMatch(words("bash(rm x*)"), ["rm", null])).toBe(false);
  });

  it("matches stars inside a word as a regular expression would", () => {
    // Like the scanner: texts never stand side by side.
    const pieces = fc
      .tuple(
        fc.boolean(),
        fc.array(fc.stringMatching(/^[ab]{1,3}$/), { minLength: 1, maxLength: 4 }),
        fc.boolean(),
      )
      .map(([first, texts, last]) => [
        ...(first ? [null] : []),
        ...texts.flatMap((text, index) => (index === 0 ? [text] : [null, text])),
        ...(last ? [null] : []),
      ]);
    fc.assert(
      fc.property(pieces, fc.stringMatching(/^[ab]{0,10}$/), (parts, word) => {
        const pattern = new RegExp(`^${parts.map((part) => part ?? ".*").join("")}$`);
        expect(pieceMatch(parts, word)).toBe(pattern.test(word));
      }),
    );
  });

  it("never throws anything but a refusal", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "binary", maxLength: 60 }),
        fc.constantFrom("bash(", "edit(", ""),
        (text, start) => {
          try {
            parseRule(`${start}${text})`);
          } catch (error) {
            expect(error).toBeInstanceOf(SallyportError);
          }
        },
      ),
    );
  });
});
