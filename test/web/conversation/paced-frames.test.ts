import { describe, expect, it } from "vitest";
import { createPacedFrames } from "../../../web/conversation/paced-frames.ts";

/** A page whose time the test moves, and whose frames cost what the test says. */
function page() {
  const state = { nowMs: 0, isHidden: false };
  let frames: (() => void)[] = [];
  let timers: { readonly atMs: number; readonly work: () => void }[] = [];
  const schedule = createPacedFrames({
    now: () => state.nowMs,
    requestFrame: (work) => frames.push(work),
    setTimer: (work, ms) => timers.push({ atMs: state.nowMs + ms, work }),
    isHidden: () => state.isHidden,
  });
  const runTimers = (): void => {
    const due = timers.filter(({ atMs }) => atMs <= state.nowMs);
    timers = timers.filter(({ atMs }) => atMs > state.nowMs);
    for (const { work } of due) work();
  };
  /** A frame that takes `costMs`. */
  const frame = (costMs: number): void => {
    const now = frames;
    frames = [];
    for (const work of now) work();
    state.nowMs += costMs;
    runTimers();
  };
  const wait = (ms: number): void => {
    state.nowMs += ms;
    runTimers();
  };
  return { state, schedule, frame, wait, waitingFrames: () => frames.length };
}

describe("createPacedFrames", () => {
  it("draws with every frame where that is quick", () => {
    const { schedule, frame, wait, waitingFrames } = page();
    let drawn = 0;
    for (let each = 0; each < 10; each += 1) {
      schedule(() => {
        drawn += 1;
      });
      expect(waitingFrames()).toBe(1);
      frame(2);
      wait(14);
    }
    expect(drawn).toBe(10);
  });

  it("leaves most of the time to the reader where a frame takes long", () => {
    const { state, schedule, frame, wait, waitingFrames } = page();
    let drawn = 0;
    const work = (): void => {
      drawn += 1;
    };
    schedule(work);
    frame(50);
    schedule(work);
    expect(waitingFrames()).toBe(0);
    wait(149);
    expect(waitingFrames()).toBe(0);
    wait(1);
    expect(waitingFrames()).toBe(1);
    frame(50);
    expect(drawn).toBe(2);
    expect(state.nowMs).toBe(250);
  });

  it("never rests for long", () => {
    const { schedule, frame, wait, waitingFrames } = page();
    schedule(() => undefined);
    frame(5_000);
    schedule(() => undefined);
    wait(300);
    expect(waitingFrames()).toBe(1);
  });

  it("goes on, without frames, while the page is hidden", () => {
    const { state, schedule, wait, waitingFrames } = page();
    let drawn = 0;
    state.isHidden = true;
    schedule(() => {
      drawn += 1;
    });
    expect(waitingFrames()).toBe(0);
    wait(250);
    expect(drawn).toBe(1);
  });
});
