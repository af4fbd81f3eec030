import { describe, expect, it } from "vitest";
import { ansiLines, createAnsiScreen } from "../../../web/ansi/ansi-screen.ts";
import { blocksOf, findLines, isSameBlock, nextFound } from "../../../web/jobs/find-lines.ts";

describe("finding words in a log", () => {
  it("looks through colours, whatever the case", () => {
    const lines = ansiLines("one\n\u001b[31mER\u001b[32mror\u001b[0m: two\nthree error\n");
    expect(findLines(lines, "error")).toEqual([1, 2]);
    expect(findLines(lines, "")).toEqual([]);
    expect(findLines(lines, ".*")).toEqual([]);
  });
  it.each([
    [[3, 7, 9], null, 1, 3],
    [[3, 7, 9], null, -1, 9],
    [[3, 7, 9], 7, 1, 9],
    [[3, 7, 9], 9, 1, 3],
    [[3, 7, 9], 3, -1, 9],
    [[3, 7, 9], 5, 1, 3],
    [[], 5, 1, null],
  ] as const)("goes in %j from %s by %d to %s", (found, current, step, expected) => {
    expect(nextFound(found, current, step)).toBe(expected);
  });
});

describe("blocks of lines", () => {
  it("keep their place when old lines are dropped, so that only the first and the last are drawn anew", () => {
    const screen = createAnsiScreen({ maxLines: 20 });
    screen.write(Array.from({ length: 25 }, (_, index) => `${index}\n`).join(""));
    const before = blocksOf(screen.lines, 5);
    screen.write("25\n26\n27\n28\n");
    const after = blocksOf(screen.lines, 5);
    expect(after.map(({ key }) => key)).toEqual([1, 2, 3, 4, 5]);
    const same = after.filter((block) =>
      before.some((other) => other.key === block.key && isSameBlock(other, block)),
    );
    expect(same.map(({ key }) => key)).toEqual([2, 3, 4]);
  });
});
