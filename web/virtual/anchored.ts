import { createHeights, type Heights, type HeightsOptions } from "./heights.ts";

/** What the scroll box shows, in CSS pixels. `top` is its scrollTop. */
export interface Viewport {
  readonly top: number;
  readonly height: number;
}

export interface RowRange {
  readonly first: number;
  /** The one behind the last. */
  readonly end: number;
}

/**
 * A list in a scroll box in which nothing moves under the reader's eyes: when rows above what they read change height, or
 * are added, the list is shifted against the scroll position, which stays untouched while a finger or its momentum moves
 * it (to set it then would stop the movement on some phones). `settle` turns the shift into a scroll position later.
 */
export interface AnchoredList {
  readonly heights: Heights;
  /** Where row 0 stands in the scrolled content; 0 but between a change and its settling. */
  readonly shift: number;
  /** The height of the scrolled content. */
  readonly contentHeight: number;
  /** The top of a row in the scrolled content. */
  topOf(index: number): number;
  /** The rows to draw: those in the viewport, and `overscan` pixels around it. */
  range(viewport: Viewport, overscan: number): RowRange;
  /** Changes rows or heights; what the viewport shows first keeps its place. */
  change(viewport: Viewport, work: (heights: Heights) => void): void;
  /** The scroll position after which the shift is gone and nothing has moved. The caller sets it in the same frame. */
  settle(viewport: Viewport): number;
  /** Forgets the shift, for when the reader is at the end anyway. */
  reset(): void;
}

export function createAnchoredList(options: HeightsOptions): AnchoredList {
  const heights = createHeights(options);
  let shift = 0;

  return {
    heights,
    get shift() {
      return shift;
    },
    get contentHeight() {
      return Math.max(0, heights.total + shift);
    },
    topOf: (index) => heights.offsetOf(index) + shift,
    range({ top, height }, overscan) {
      if (heights.count === 0) return { first: 0, end: 0 };
      const first = heights.indexAt(top - shift - overscan);
      const last = heights.indexAt(top - shift + height + overscan);
      return { first, end: last + 1 };
    },
    change({ top }, work) {
      const index = heights.indexAt(top - shift);
      const key = heights.keyAt(index);
      const before = heights.offsetOf(index);
      const bottom = before + heights.heightAt(index);
      const nextKey = heights.keyAt(index + 1);
      // A row that was not seen yet has no place to keep: when it turns out taller or smaller, it does so upwards.
      const isSeen = key !== null && (heights.isMeasured(key) || before >= top - shift);
      work(heights);
      const after = key === null || !isSeen ? null : heights.indexOf(key);
      if (after !== null) {
        shift -= heights.offsetOf(after) - before;
        return;
      }
      // Unseen, or gone: the one behind it keeps its place.
      const next = nextKey === null ? null : heights.indexOf(nextKey);
      if (next !== null) shift -= heights.offsetOf(next) - bottom;
    },
    settle({ top }) {
      const settled = top - shift;
      shift = 0;
      return Math.max(0, settled);
    },
    reset() {
      shift = 0;
    },
  };
}
