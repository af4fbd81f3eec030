import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type Activity, isBusy, watchIdle } from "../../src/daemon/idle.ts";

const quiet: Activity = {
  access: "off",
  keptAwake: false,
  clients: 0,
  runningAgents: 0,
  runningJobs: 0,
  pending: 0,
  lastRequestMs: 0,
};

describe("isBusy", () => {
  it.each([
    [{}, false, "nothing at all"],
    [{ access: "on" as const }, true, "remote access is on: someone may come"],
    [{ access: "tunnel" as const }, true, "a tunnel leads here"],
    [{ keptAwake: true }, true, "a person wants the machine awake as long as it runs"],
    [{ clients: 1 }, true, "a client is connected"],
    [{ runningAgents: 1 }, true, "a turn runs"],
    [{ runningJobs: 1 }, true, "a job runs"],
    [{ pending: 1 }, true, "a request waits for an answer"],
  ])("with %j is %s (%s)", (over, busy, _why) => {
    expect(isBusy({ ...quiet, ...over })).toBe(busy);
  });
});

describe("watchIdle", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  function watch(idleMinutes: number) {
    let activity = quiet;
    let now = 0;
    let idle = 0;
    let limit = idleMinutes;
    const stop = watchIdle({
      idleMinutes: () => limit,
      activity: () => activity,
      monotonicNow: () => now,
      onIdle: () => idle++,
    });
    return {
      stop,
      setLimit: (minutes: number) => {
        limit = minutes;
      },
      set: (over: Partial<Activity>) => {
        activity = { ...quiet, ...over };
      },
      minutes(count: number) {
        for (let minute = 0; minute < count; minute++) {
          now += 60_000;
          vi.advanceTimersByTime(60_000);
        }
        return idle;
      },
    };
  }

  it("tells once after the whole time", () => {
    const watched = watch(120);
    expect(watched.minutes(119)).toBe(0);
    expect(watched.minutes(1)).toBe(1);
    expect(watched.minutes(500)).toBe(1);
  });

  it("begins anew whenever something was busy or a request came", () => {
    const watched = watch(10);
    watched.minutes(9);
    watched.set({ runningJobs: 1 });
    watched.minutes(1);
    watched.set({});
    expect(watched.minutes(9)).toBe(0);
    watched.set({ lastRequestMs: 19 * 60_000 });
    expect(watched.minutes(9)).toBe(0);
    expect(watched.minutes(1)).toBe(1);
  });

  it("goes by another limit at once", () => {
    const watched = watch(0);
    expect(watched.minutes(200)).toBe(0);
    watched.setLimit(300);
    expect(watched.minutes(99)).toBe(0);
    expect(watched.minutes(1)).toBe(1);
  });

  it("never tells with 0, while busy, or once stopped", () => {
    expect(watch(0).minutes(2_000)).toBe(0);
    const busy = watch(1);
    busy.set({ access: "tunnel" });
    expect(busy.minutes(100)).toBe(0);
    busy.stop();
    busy.set({});
    expect(busy.minutes(100)).toBe(0);
  });
});
