import { spawnSync } from "node:child_process";
import { describe, expect, it } from "vitest";

describe("the flag that keeps the heap small", () => {
  it("is one that this version of V8 knows: it complains to the terminal of others", () => {
    const code = 'require("node:v8").setFlagsFromString("--heap-growing-percent=40")';
    const { status, stderr } = spawnSync(process.execPath, ["-e", code], { encoding: "utf8" });
    expect([status, stderr]).toEqual([0, ""]);
  });
});
