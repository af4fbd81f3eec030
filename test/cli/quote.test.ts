import { execFileSync } from "node:child_process";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { quoteWord, shellLine } from "../../src/cli/quote.ts";

describe("shellLine", () => {
  it("takes a single word as a shell line", () => {
    expect(shellLine(["make && make check"])).toBe("make && make check");
  });

  it("quotes several words one by one", () => {
    expect(shellLine(["echo", "a b", "", "it's", "$HOME", "plain-1.2/x"])).toBe(
      `echo 'a b' '' 'it'\\''s' '$HOME' plain-1.2/x`,
    );
  });

  it("does not let a first word become an assignment or a keyword", () => {
    expect(shellLine(["A=1", "x"])).toBe("'A=1' x");
    expect(shellLine(["if", "x"])).toBe("'if' x");
    expect(quoteWord("~root")).toBe("'~root'");
  });

  it("hands any words to a program exactly as they were given", () => {
    const word = fc.string({ unit: "binary", maxLength: 20 }).map((text) => text.replaceAll("\0", ""));
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 5 }), (words) => {
        const printed = execFileSync("/bin/sh", ["-c", shellLine(["printf", "%s\\0", ...words])]).toString(
          "utf8",
        );
        expect(printed.split("\0").slice(0, -1)).toEqual(words);
      }),
      { numRuns: 40 },
    );
  });
});
