import { type AnchoredList, createAnchoredList, type RowRange, type Viewport } from "./anchored.ts";
import { afterGrowth, afterScroll, type Stickiness, stuck } from "./stickiness.ts";

/** Rows this far outside of the viewport are drawn, so that a quick finger finds something. */
const overscanPx = 700;
/** The list is put in order this long after the last sign of scrolling. */
const settleMs = 140;
const nearStartPx = 1_500;

export interface ScrollBoxOptions {
  readonly estimate: (key: string) => number;
  /** Other rows must be drawn, or the stickiness is another. */
  readonly onDraw: () => void;
  readonly onNearStart: () => void;
}

/** The working part of a virtual list: holds the box and its rows, and moves them without drawing anew. */
export interface ScrollBox {
  readonly stickiness: Stickiness;
  /** The box appears, or goes. */
  attach(box: HTMLElement | null, content: HTMLElement | null): void;
  /** A row appears under this key, or goes. */
  attachRow(key: string, row: HTMLElement | null): void;
  /** The rows are these from now on; `hasNews`: something came at the end. */
  setKeys(keys: readonly string[], hasNews: boolean): void;
  range(): RowRange;
  /** After the rows were drawn. */
  place(): void;
  scrollToEnd(): void;
  /** Brings a row into view if it is not. */
  reveal(index: number): void;
  dispose(): void;
}

export function createScrollBox(options: ScrollBoxOptions): ScrollBox {
  const list: AnchoredList = createAnchoredList({ estimate: options.estimate });
  const rows = new Map<string, HTMLElement>();
  const keyOfRow = new WeakMap<Element, string>();
  let box: HTMLElement | null = null;
  let content: HTMLElement | null = null;
  let stickiness: Stickiness = stuck;
  let viewport: Viewport = { top: 0, height: 800 };
  /** At the last scroll event; `viewport` may be newer. */
  let scrolledTop = 0;
  let drawn: RowRange = { first: 0, end: 0 };
  let isTouched = false;
  /** Where we left the box ourselves: to be there is no scrolling of the reader. */
  let ownTop: number | null = null;
  let settleTimer: ReturnType<typeof setTimeout> | undefined;

  const observer =
    typeof ResizeObserver === "undefined"
      ? null
      : new ResizeObserver((entries) => {
          look();
          list.change(viewport, (heights) => {
            for (const entry of entries) {
              const key = keyOfRow.get(entry.target);
              const px = entry.borderBoxSize[0]?.blockSize;
              if (key !== undefined && px !== undefined && entry.target.isConnected) heights.measure(key, px);
            }
          });
          place();
          drawIfNeeded();
        });

  /** A finger moves the box between two scroll events: what counts is where it is now. */
  function look(): void {
    if (box !== null) viewport = { top: box.scrollTop, height: box.clientHeight };
  }

  function setTop(top: number): void {
    if (box === null) return;
    if (Math.abs(box.scrollTop - top) > 0.5) box.scrollTop = top;
    ownTop = box.scrollTop;
    scrolledTop = ownTop;
    viewport = { ...viewport, top: ownTop };
  }

  function place(): void {
    if (content === null || box === null) return;
    content.style.blockSize = `${list.contentHeight}px`;
    for (const [key, row] of rows) {
      const index = list.heights.indexOf(key);
      if (index !== null) row.style.transform = `translateY(${list.topOf(index)}px)`;
    }
    if (stickiness.isStuck) {
      if (list.shift !== 0) {
        list.reset();
        place();
        return;
      }
      // Also where it is there already: a box whose contents became shorter was moved by the browser.
      setTop(Math.max(0, list.contentHeight - viewport.height));
    } else if (list.shift !== 0) settleSoon();
  }

  function settleSoon(): void {
    // Above the first row there is nothing to scroll to: then it cannot wait.
    if (list.shift < 0 && viewport.top <= 1) {
      settle();
      return;
    }
    clearTimeout(settleTimer);
    settleTimer = setTimeout(() => {
      if (isTouched) settleSoon();
      else settle();
    }, settleMs);
  }

  function settle(): void {
    if (list.shift === 0 || box === null) return;
    look();
    const top = list.settle(viewport);
    place();
    setTop(top);
    drawIfNeeded();
  }

  function range(): RowRange {
    const top = stickiness.isStuck ? Math.max(0, list.contentHeight - viewport.height) : viewport.top;
    drawn = list.range({ top, height: viewport.height }, overscanPx);
    return drawn;
  }

  function drawIfNeeded(): void {
    const before = drawn;
    const next = range();
    if (next.first !== before.first || next.end !== before.end) options.onDraw();
  }

  function setStickiness(next: Stickiness): void {
    if (next.isStuck === stickiness.isStuck && next.hasUnseen === stickiness.hasUnseen) return;
    stickiness = next;
    options.onDraw();
  }

  function onScroll(): void {
    if (box === null) return;
    const top = box.scrollTop;
    const isOwn = ownTop !== null && Math.abs(top - ownTop) < 1;
    const movedUp = top < scrolledTop - 0.5;
    scrolledTop = top;
    viewport = { top, height: box.clientHeight };
    const distance = list.contentHeight - viewport.height - top;
    if (!isOwn || distance <= 1) setStickiness(afterScroll(stickiness, distance, movedUp));
    if (!isOwn && list.shift !== 0) settleSoon();
    drawIfNeeded();
    if (top - list.shift < nearStartPx && list.heights.count > 0) options.onNearStart();
  }

  function onTouch(event: TouchEvent): void {
    isTouched = event.touches.length > 0;
  }

  return {
    get stickiness() {
      return stickiness;
    },
    attach(nextBox, nextContent) {
      box?.removeEventListener("scroll", onScroll);
      for (const type of touchEvents) box?.removeEventListener(type, onTouch);
      if (box !== null) observer?.unobserve(box);
      box = nextBox;
      content = nextContent;
      if (box === null) return;
      box.addEventListener("scroll", onScroll, { passive: true });
      for (const type of touchEvents) box.addEventListener(type, onTouch, { passive: true });
      observer?.observe(box);
      look();
      scrolledTop = viewport.top;
    },
    attachRow(key, row) {
      const before = rows.get(key);
      if (before === row) return;
      if (before !== undefined) observer?.unobserve(before);
      if (row === null) {
        rows.delete(key);
        return;
      }
      rows.set(key, row);
      keyOfRow.set(row, key);
      observer?.observe(row);
    },
    setKeys(keys, hasNews) {
      look();
      list.change(viewport, (heights) => heights.setKeys(keys));
      if (hasNews) stickiness = afterGrowth(stickiness);
    },
    range,
    place,
    scrollToEnd() {
      stickiness = stuck;
      place();
      options.onDraw();
    },
    reveal(index) {
      const top = list.topOf(index);
      const bottom = top + list.heights.heightAt(index);
      if (top >= viewport.top && bottom <= viewport.top + viewport.height) return;
      const isTall = bottom - top > viewport.height;
      stickiness = afterScroll(stickiness, viewport.height, top < viewport.top);
      setTop(top < viewport.top || isTall ? top : bottom - viewport.height);
      drawIfNeeded();
    },
    dispose() {
      clearTimeout(settleTimer);
      observer?.disconnect();
    },
  };
}

const touchEvents = ["touchstart", "touchend", "touchcancel"] as const;
