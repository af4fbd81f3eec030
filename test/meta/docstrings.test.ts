import { dirname, join, normalize } from "node:path";
import { describe, expect, it } from "vitest";
import { filesBelow, readRepoFile } from "./sources.ts";

const sources = [...filesBelow("src", [".ts"]), ...filesBelow("web", [".ts", ".tsx"])];
const importPattern = /(?:^|\n)import\s(?:type\s)?\{([^}]*)\}\s*from\s*"(\.[^"]+)"/g;
const functionPattern = /(\*\/\n)?^export (?:async )?function\*? (\w+)/gm;

/** `path#name` of everything that a file of another folder imports. */
const crossing = new Set(
  sources.flatMap((from) =>
    [...readRepoFile(from).matchAll(importPattern)].flatMap(([, names = "", specifier = ""]) => {
      const target = normalize(join(dirname(from), specifier));
      if (dirname(target) === dirname(from)) return [];
      return names.split(",").map((name) => {
        const [imported = ""] = name
          .trim()
          .replace(/^type /, "")
          .split(" as ");
        return `${target}#${imported}`;
      });
    }),
  ),
);
const functions = sources
  .filter((path) => path.startsWith("src/"))
  .flatMap((path) =>
    [...readRepoFile(path).matchAll(functionPattern)].map(([, comment, name]) => ({
      at: `${path}#${name}`,
      isDescribed: comment !== undefined,
    })),
  );

describe("functions of src", () => {
  it("say what their types do not, where another folder calls them", () => {
    const called = functions.filter(({ at }) => crossing.has(at));
    expect(called.length).toBeGreaterThan(200);
    expect(called.filter(({ isDescribed }) => !isDescribed).map(({ at }) => at)).toEqual([]);
  });
});
