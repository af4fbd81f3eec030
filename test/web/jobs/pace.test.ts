import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createGate } from "../../../web/jobs/gate.ts";
import { createPace } from "../../../web/jobs/pace.ts";

let frames: (() => void)[];
const nextFrame = (): void => {
  for (const frame of frames.splice(0)) frame();
};

beforeEach(() => {
  frames = [];
  vi.useFakeTimers();
  vi.stubGlobal("requestAnimationFrame", (frame: () => void) => frames.push(frame));
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

describe("drawing at a pace that the page can bear", () => {
  it("draws once in a frame, however often it was asked to", () => {
    const draw = vi.fn();
    const pace = createPace(draw);
    for (let times = 0; times < 5; times += 1) pace.drawSoon();
    nextFrame();
    vi.runAllTimers();
    expect(draw).toHaveBeenCalledTimes(1);
    expect(frames).toHaveLength(0);
  });
  it("leaves twice the time of the last drawing to everything else", () => {
    const draw = vi.fn(() => vi.setSystemTime(Date.now() + 60));
    vi.stubGlobal("performance", { now: () => Date.now() });
    const pace = createPace(draw);
    pace.drawSoon();
    nextFrame();
    vi.advanceTimersByTime(1);
    pace.drawSoon();
    vi.advanceTimersByTime(100);
    expect(frames).toHaveLength(0);
    vi.advanceTimersByTime(40);
    expect(frames).toHaveLength(1);
  });
  it("draws again for what comes while it draws", () => {
    const draw = vi.fn(() => {
      if (draw.mock.calls.length === 1) pace.drawSoon();
    });
    const pace = createPace(draw);
    pace.drawSoon();
    nextFrame();
    vi.runAllTimers();
    nextFrame();
    expect(draw).toHaveBeenCalledTimes(2);
  });
  it("resolves when that was drawn which was there before, also when it is stopped", async () => {
    const pace = createPace(() => undefined);
    const drawn = pace.drawn();
    nextFrame();
    vi.runAllTimers();
    await drawn;
    const never = pace.drawn();
    pace.stop();
    await never;
    await pace.drawn();
  });
});

describe("a gate", () => {
  it("lets pass until it is held, and those that waited when it is open again", async () => {
    const gate = createGate();
    await gate.passed();
    gate.hold(true);
    const passed = vi.fn();
    const waiting = gate.passed().then(passed);
    await Promise.resolve();
    expect(passed).not.toHaveBeenCalled();
    gate.hold(false);
    await waiting;
    expect(passed).toHaveBeenCalled();
  });
});
