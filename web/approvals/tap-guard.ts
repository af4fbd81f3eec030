/** A tap so soon after something moved was meant for what stood there before. */
export const settleMs = 500;

/**
 * Judges whether a press counts: what is pressed must have stood still for a while when the finger came down, and must
 * not have moved until it was lifted.
 */
export interface TapGuard {
  /** Something moved, appeared or went. */
  moved(nowMs: number): void;
  pressed(nowMs: number): void;
  /** At the click; one by keyboard has no press of its own. */
  counts(nowMs: number, isKeyboard: boolean): boolean;
  /** When presses count again, if nothing moves meanwhile. */
  readonly settledAtMs: number;
}

export function createTapGuard(): TapGuard {
  let settledAtMs = Number.POSITIVE_INFINITY;
  let pressedAtMs = Number.NEGATIVE_INFINITY;
  return {
    moved(nowMs) {
      settledAtMs = nowMs + settleMs;
    },
    pressed(nowMs) {
      pressedAtMs = nowMs;
    },
    counts(nowMs, isKeyboard) {
      return (isKeyboard ? nowMs : pressedAtMs) >= settledAtMs;
    },
    get settledAtMs() {
      return settledAtMs;
    },
  };
}
