import { describe, expect, it } from "vitest";
import { missedBeats } from "../../../src/gateway/sockets/heartbeat.ts";

describe("missed beats", () => {
  it.each([
    [1, { heard: false, drained: false, deaf: false }, 2],
    [1, { heard: true, drained: false, deaf: false }, 0],
    [1, { heard: false, drained: true, deaf: false }, 0],
    [1, { heard: false, drained: false, deaf: true }, 0],
  ])("after %i with %j are %i", (before, signs, after) => {
    expect(missedBeats(before, signs)).toBe(after);
  });
});
