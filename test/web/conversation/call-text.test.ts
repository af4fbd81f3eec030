import { describe, expect, it } from "vitest";
import {
  costText,
  durationText,
  readCallInput,
  splitPath,
  tokensText,
  waitedText,
  withoutWait,
} from "../../../web/conversation/call-text.ts";

describe("readCallInput", () => {
  it.each([
    [{ command: "ls" }, { command: "ls", path: null, change: null, rest: "" }],
    [{ path: "a.ts" }, { command: null, path: "a.ts", change: null, rest: "" }],
    [
      { file_path: "a.ts", old_string: "x", new_string: "y", all: true },
      { command: null, path: "a.ts", change: { before: "x", after: "y" }, rest: '{\n  "all": true\n}' },
    ],
    [{ old_string: "x" }, { command: null, path: null, change: null, rest: '{\n  "old_string": "x"\n}' }],
    [null, { command: null, path: null, change: null, rest: "" }],
    ["x", { command: null, path: null, change: null, rest: '"x"' }],
    [[1], { command: null, path: null, change: null, rest: "[\n  1\n]" }],
  ])("reads %j", (input, expected) => {
    expect(readCallInput(input)).toEqual(expected);
  });
});

it.each([
  [0, "0 ms"],
  [340, "340 ms"],
  [2_210, "2.2 s"],
  [42_400, "42 s"],
  [185_000, "3 min 5 s"],
  [7_500_000, "2 h 5 min"],
])("%i ms are %s", (millis, text) => {
  expect(durationText(millis)).toBe(text);
});

it.each([
  [840, "840"],
  [1_840, "1,840"],
  [15_200, "15k"],
  [1_250_000, "1.3M"],
])("%i tokens are %s", (count, text) => {
  expect(tokensText(count)).toBe(text);
});

it.each([
  [0, "$0.00"],
  [0.0021, "$0.0021"],
  [0.043, "$0.043"],
  [12.345, "$12.35"],
])("%f dollars are %s", (dollars, text) => {
  expect(costText(dollars)).toBe(text);
});

it.each([
  ["/srv/api/src/store.ts", "/srv/api", { folder: "src/", name: "store.ts" }],
  ["/srv/api/a.ts", "/srv/api/", { folder: "", name: "a.ts" }],
  ["/srv/api", "/srv/api", { folder: "", name: "/srv/api" }],
  ["/srv/apirate/a.ts", "/srv/api", { folder: "", name: "/srv/apirate/a.ts" }],
  ["ls /srv/api/src", "/srv/api", { folder: "", name: "ls /srv/api/src" }],
  ["/srv/api/a.ts", null, { folder: "", name: "/srv/api/a.ts" }],
])("%s is seen from %s", (text, cwd, expected) => {
  expect(splitPath(text, cwd)).toEqual(expected);
});

it.each([
  [15_000, 14_000, 1_000, "waited for you 14 s"],
  [40, 0, 40, null],
  [900, 300, 600, null],
  // Measured without the wait.
  [120, 60_000, 120, "waited for you 1 min 0 s"],
])("of %i ms, %i of them waiting, it ran %i", (millis, waited, ran, text) => {
  expect(withoutWait(millis, waited)).toBe(ran);
  expect(waitedText(waited)).toBe(text);
});
