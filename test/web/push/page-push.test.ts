import { describe, expect, it } from "vitest";
import { type BrowserFacts, obstacleOf } from "../../../web/push/page-push.ts";
import { readPushRecord } from "../../../web/push/push-record.ts";

const able: BrowserFacts = {
  isSecure: true,
  hasWorker: true,
  hasPush: true,
  permission: "default",
  isIos: false,
  isInstalled: false,
};

describe("obstacleOf", () => {
  it.each<[string, Partial<BrowserFacts>, string | null]>([
    ["nothing", {}, null],
    ["nothing, permission given", { permission: "granted" }, null],
    ["plain http", { isSecure: false, hasWorker: false }, "insecure"],
    ["an iPhone with the page in a tab", { isIos: true, hasPush: false }, "not installed"],
    ["an iPhone with the page on its screen", { isIos: true, isInstalled: true }, null],
    ["an old iPhone", { isIos: true, isInstalled: true, hasPush: false }, "no support"],
    ["a browser without pushes", { hasPush: false }, "no support"],
    ["a browser without notifications", { permission: null }, "no support"],
    ["a person who said no", { permission: "denied" }, "denied"],
  ])("finds %s", (_, facts, obstacle) => {
    expect(obstacleOf({ ...able, ...facts })).toBe(obstacle);
  });
});

describe("readPushRecord", () => {
  it("takes what this page wrote, and nothing else", () => {
    const record = { id: "i", kinds: ["turns"], public_key: "k" };
    expect(readPushRecord(record)).toEqual(record);
    expect(readPushRecord({ ...record, kinds: ["turns", "poems"] })).toEqual(record);
    for (const wrong of [undefined, null, 7, {}, { ...record, id: 1 }, { ...record, kinds: [] }])
      expect(readPushRecord(wrong)).toBeNull();
  });
});
