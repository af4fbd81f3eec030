import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { expandCommand, splitWords } from "../../../src/engine/slash/expand.ts";
import { isCommandName, readSlashLine } from "../../../src/engine/slash/slash-line.ts";
import { SallyportError } from "../../../src/errors.ts";

describe("readSlashLine", () => {
  it.each([
    ["/deploy", { name: "deploy", args: "" }],
    ["/deploy now  please ", { name: "deploy", args: "now  please" }],
    ["/front:button\nred", { name: "front:button", args: "red" }],
    ["/usr/bin/env", null],
    ["/bin/ls -l", null],
    ["/", null],
    ["//x", null],
    ["/../x", null],
    ["/-x", null],
    ["/a.b", null],
    [" /deploy", null],
    ["deploy", null],
    ["/a:b:c:d:e", null],
    [`/${"x".repeat(65)}`, null],
    ["", null],
  ])("%j", (text, expected) => {
    expect(readSlashLine(text)).toEqual(expected);
  });

  it("never yields a name that is a path", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const name = readSlashLine(`/${text}`)?.name ?? "x";
        expect(name).toMatch(/^[A-Za-z0-9_:-]+$/);
        expect(isCommandName(name)).toBe(true);
      }),
    );
  });
});

describe("expandCommand", () => {
  const model = { isCommandLine: false, maxChars: 1_000 };
  const shell = { isCommandLine: true, maxChars: 1_000 };
  it.each([
    ["fix $ARGUMENTS", "the bug", "fix the bug"],
    ["$1 then $2, $3.", `"a b" 'c'`, "a b then c, ."],
    ["cost: $10 and $ARGUMENTSX", "x", "cost: $10 and $ARGUMENTSX\n\nARGUMENTS: x"],
    ["no place", "", "no place"],
    ["no place", "x", "no place\n\nARGUMENTS: x"],
    ["$1", "$2 $ARGUMENTS", "$2"],
    ["$ARGUMENTS", "$&$1$$", "$&$1$$"],
  ])("%j with %j is %j", (body, args, expected) => {
    expect(expandCommand(body, args, model)).toBe(expected);
  });

  it("never puts arguments behind a command line that has no place for them", () => {
    expect(expandCommand("npm test -- $ARGUMENTS", "--watch", shell)).toBe("npm test -- --watch");
    expect(expandCommand("npm test", "", shell)).toBe("npm test");
    expect(() => expandCommand("npm test", "; rm -rf /", shell)).toThrow(
      expect.objectContaining({ code: "invalid_field", field: "text" }),
    );
  });

  it("bomb: many placeholders with a long argument stop at the bound", () => {
    expect(() => expandCommand("$ARGUMENTS".repeat(6_000), "x".repeat(1_000_000), model)).toThrow(
      expect.objectContaining({ code: "too_large", field: "text" }),
    );
  });

  it("yields text or a coded refusal for anything", () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.boolean(), (body, args, isCommandLine) => {
        try {
          expect(expandCommand(body, args, { isCommandLine, maxChars: 200 }).length).toBeLessThanOrEqual(200);
        } catch (error) {
          expect(error).toBeInstanceOf(SallyportError);
        }
      }),
    );
  });
});

describe("splitWords", () => {
  it.each([
    ["", []],
    ["a  b\tc", ["a", "b", "c"]],
    [`"a b" c'd e'`, ["a b", "cd e"]],
    [`"open`, ["open"]],
    [`''`, [""]],
  ])("%j", (args, words) => {
    expect(splitWords(args)).toEqual(words);
  });
});
