import { describe, expect, it } from "vitest";
import { filesBelow, readRepoFile } from "./sources.ts";

const sources = [...filesBelow("src", [".ts", ".tsx"]), ...filesBelow("web", [".ts", ".tsx"])];

/** Longest file that may stand; a longer one needs a reason here. */
const maxLines = 400;
const longerWithReason: Readonly<Record<string, string>> = {};

/** Words that mark unfinished or careless work, each with the place where it is right. */
const forbiddenWords: readonly {
  readonly pattern: RegExp;
  readonly allowedIn: RegExp | null;
  readonly why: string;
}[] = [
  { pattern: /\b(TODO|FIXME|XXX|HACK)\b/, allowedIn: null, why: "unfinished work belongs into an issue" },
  { pattern: /Math\.random/, allowedIn: null, why: "randomness comes from node:crypto" },
  {
    pattern: /console\.(log|error|warn|info|debug)/,
    allowedIn: null,
    why: "output goes through the log or the CLI",
  },
  { pattern: /catch\s*(\([^)]*\))?\s*\{\s*\}/, allowedIn: null, why: "a swallowed error needs a reason" },
  {
    pattern: /@ts-(ignore|nocheck|expect-error)|biome-ignore/,
    allowedIn: null,
    why: "checks are not switched off",
  },
  {
    pattern: /^(export )?const \w+ = Compile\(/,
    allowedIn: null,
    why: "a schema is compiled when it is first used (createChecker): each costs the start a millisecond",
  },
  { pattern: /export default/, allowedIn: null, why: "names are the same everywhere" },
];

describe("sources", () => {
  it("stay short enough to be read in one go", () => {
    const long = sources
      .map((path) => ({ path, lines: readRepoFile(path).split("\n").length }))
      .filter(({ path, lines }) => lines > maxLines && !(path in longerWithReason));
    expect(long).toEqual([]);
  });

  it("hold none of the forbidden words", () => {
    const found = sources.flatMap((path) =>
      readRepoFile(path)
        .split("\n")
        .flatMap((line, index) =>
          forbiddenWords
            .filter(({ pattern, allowedIn }) => pattern.test(line) && !allowedIn?.test(path))
            .map(({ why }) => `${path}:${index + 1}: ${why}`),
        ),
    );
    expect(found).toEqual([]);
  });

  it("have names in kebab-case, and no drawer called utils or index", () => {
    const wrong = sources.filter((path) => {
      const name = path.split("/").at(-1) ?? "";
      return (
        !/^[a-z0-9]+(-[a-z0-9]+)*(\.d)?\.tsx?$/.test(name) ||
        /^(utils?|helpers?|misc|common|index)\.tsx?$/.test(name)
      );
    });
    expect(wrong).toEqual([]);
  });
});

describe("tests", () => {
  it("are never switched off", () => {
    const tests = filesBelow("test", [".ts"]).filter((path) => !path.startsWith("test/meta/"));
    const off = tests.filter((path) => /\b(it|test|describe)\.(only|skip|todo)\b/.test(readRepoFile(path)));
    expect(off).toEqual([]);
  });
});
