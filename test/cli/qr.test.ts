import { create } from "qrcode";
import { describe, expect, it } from "vitest";
import { drawQr, halfBlocks, hasColours } from "../../src/cli/qr.ts";

const link = "http://192.168.1.20:7700/#pair=ABCDE-FGHJK";

/** Reads half blocks back into modules, without the quiet zone of two. */
function modulesOf(rows: readonly string[], inkIsDark: boolean): readonly number[] {
  const grid = rows.flatMap((row) => {
    const top = [...row].map((block) => ("█▀".includes(block) === inkIsDark ? 1 : 0));
    const bottom = [...row].map((block) => ("█▄".includes(block) === inkIsDark ? 1 : 0));
    return [top, bottom];
  });
  const size = (grid[0]?.length ?? 0) - 4;
  return grid.slice(2, 2 + size).flatMap((row) => row.slice(2, 2 + size));
}

describe("halfBlocks", () => {
  it.each([true, false])("draws every module, dark ink %s", (inkIsDark) => {
    const { modules } = create(link, { errorCorrectionLevel: "L" });
    const rows = halfBlocks(modules.data, modules.size, inkIsDark);
    expect(modulesOf(rows, inkIsDark)).toEqual([...modules.data]);
  });
});

describe("drawQr", () => {
  it("draws nothing that the terminal would break", async () => {
    expect(await drawQr(link, { columns: 20 }, { colours: true })).toBeNull();
  });

  it("uses no colour where none is wanted", async () => {
    const drawn = await drawQr(link, { columns: 80 }, { colours: false });
    expect(drawn).not.toContain("\u001b");
    expect(drawn).toMatch(/[▀▄█]/);
  });

  it.each([
    [true, {}, true],
    [false, {}, false],
    [true, { NO_COLOR: "1" }, false],
    [true, { NO_COLOR: "" }, true],
    [true, { TERM: "dumb" }, false],
  ])("colours on a terminal %s with %j: %s", (isTerminal, env, expected) => {
    expect(hasColours({ isTerminal }, env)).toBe(expected);
  });
});
