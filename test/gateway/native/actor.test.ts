import { describe, expect, it } from "vitest";
import { actorOf } from "../../../src/gateway/native/actor.ts";
import { deviceLease } from "../harness.ts";

describe("actorOf", () => {
  it("tells the engine once when the device is revoked, at once if it is already, and not after it stopped", () => {
    const lease = deviceLease();
    const actor = actorOf(lease, Date.now);
    const told: string[] = [];
    actor.onEnd?.(() => told.push("first"));
    actor.onEnd?.(() => told.push("stopped"))();
    expect(told).toEqual([]);
    lease.end("revoked");
    expect(told).toEqual(["first"]);
    actor.onEnd?.(() => told.push("late"));
    expect(told).toEqual(["first", "late"]);
    expect(() => actor.assertLive()).toThrow("revoked");
  });
});
