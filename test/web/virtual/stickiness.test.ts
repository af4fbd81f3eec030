import { describe, expect, it } from "vitest";
import { afterGrowth, afterScroll, stuck } from "../../../web/virtual/stickiness.ts";

const away = { isStuck: false, hasUnseen: false };
const unseen = { isStuck: false, hasUnseen: true };

describe("stickiness", () => {
  it.each([
    ["stays at the end", stuck, 0, false, stuck],
    ["leaves the end when the reader scrolls up, even a little", stuck, 20, true, away],
    ["does not leave it because the list grew below a still viewport", stuck, 900, false, stuck],
    ["stays away while the reader is up there", unseen, 900, false, unseen],
    ["comes back when they come near the end", unseen, 40, false, stuck],
    ["does not come back while they move away", away, 40, true, away],
    ["comes back at the very end, however it was reached", unseen, 0.5, true, stuck],
  ])("%s", (_name, before, distance, movedUp, after) => {
    expect(afterScroll(before, distance, movedUp)).toEqual(after);
  });

  it("says that there is more only to who is away", () => {
    expect(afterGrowth(stuck)).toEqual(stuck);
    expect(afterGrowth(away)).toEqual(unseen);
  });
});
