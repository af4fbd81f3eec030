import { type Signal, useSignal } from "@preact/signals";
import type { RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

export interface LogScroll {
  readonly box: RefObject<HTMLElement | null>;
  /** The end stays in view; ends when the reader moves up, and begins when they come back to the end. */
  readonly isFollowing: Signal<boolean>;
  /** For the box. */
  readonly listeners: {
    readonly onScroll: () => void;
    readonly onWheel: () => void;
    readonly onTouchMove: () => void;
    readonly onPointerDown: () => void;
    readonly onKeyDown: () => void;
  };
  /** Brings a line to a place of the box, and holds it there until the lines round it have their heights. */
  bring(find: () => Element | null | undefined, block: "start" | "center"): void;
}

/** Closer to the end counts as the end. */
const endPx = 40;
/** What moves the box so soon after it was touched is the reader. */
const touchMs = 400;
/** Lines far away have heights that are guessed until they are near. */
const settleFrames = 3;

/**
 * Keeps a box of lines at its end until the reader leaves it. Lines that come, go or get their real heights move the box
 * too: that is not leaving.
 */
export function useLogScroll(lines: unknown): LogScroll {
  const box = useRef<HTMLElement>(null);
  const isFollowing = useSignal(true);
  const last = useRef({ top: 0, height: 0, touchedMs: Number.NEGATIVE_INFINITY });
  const isPlacing = useRef(false);

  function toEnd(): void {
    const element = box.current;
    if (element === null) return;
    element.scrollTop = element.scrollHeight;
    last.current = { ...last.current, top: element.scrollTop, height: element.scrollHeight };
  }
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null || !isFollowing.value) return undefined;
    toEnd();
    // A keyboard that rises or a phone that is turned leaves less room for the same lines.
    const observer = new ResizeObserver(toEnd);
    observer.observe(element);
    return () => observer.disconnect();
  }, [lines, isFollowing.value]);

  function onScroll(): void {
    const element = box.current;
    if (element === null) return;
    const { top, height, touchedMs } = last.current;
    const { scrollTop, scrollHeight, clientHeight } = element;
    last.current = { top: scrollTop, height: scrollHeight, touchedMs };
    if (isPlacing.current) return;
    if (scrollHeight - scrollTop - clientHeight < endPx) isFollowing.value = true;
    else if (isFollowing.peek()) {
      const mayBeReader = scrollHeight === height || performance.now() - touchedMs < touchMs;
      if (mayBeReader && scrollTop < top) isFollowing.value = false;
      else toEnd();
    }
  }
  function onTouch(): void {
    last.current.touchedMs = performance.now();
  }

  return {
    box,
    isFollowing,
    listeners: {
      onScroll,
      onWheel: onTouch,
      onTouchMove: onTouch,
      onPointerDown: onTouch,
      onKeyDown: onTouch,
    },
    bring(find, block) {
      const beganMs = performance.now();
      let left = settleFrames;
      const place = (): void => {
        isPlacing.current = left > 0 && last.current.touchedMs <= beganMs;
        if (!isPlacing.current) return;
        find()?.scrollIntoView({ block });
        left -= 1;
        requestAnimationFrame(place);
      };
      place();
    },
  };
}
