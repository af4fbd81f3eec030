import type { ComponentChildren, RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { Button } from "../ui/button.tsx";
import { memo } from "../ui/memo.ts";
import { scrollable } from "../ui/scrollable.ts";
import { createScrollBox, type ScrollBox } from "./scroll-box.ts";
import "./virtual-list.css";

/** What others may do with a list. */
export interface VirtualListHandle {
  scrollToEnd(): void;
  /** Moves the focus to the next row, or the one before. */
  focusRow(step: 1 | -1): void;
}

interface VirtualListProps<T> {
  /** Name of the list for a screen reader. */
  readonly label: string;
  readonly items: readonly T[];
  /** Stays with the item; unique. */
  readonly keyOf: (item: T) => string;
  /** Its height before it was drawn, in pixels. */
  readonly estimate: (item: T) => number;
  /** What a screen reader says of the row as a whole. */
  readonly labelOf: (item: T) => string;
  readonly draw: (item: T) => ComponentChildren;
  readonly hasOlder: boolean;
  readonly isLoadingOlder: boolean;
  readonly onNearStart: () => void;
  /** The reader came to the end, or left it. */
  readonly onAtEnd?: (isAtEnd: boolean) => void;
  /** Grows with whatever comes at the end; older rows do not count. */
  readonly news: number;
  /** More has come than is shown, though the list did not grow. */
  readonly isBehind?: boolean;
  readonly handle?: RefObject<VirtualListHandle | null>;
}

/**
 * A long list of rows of unknown heights that grows at its end, with older rows loaded at its beginning. Only what is
 * near the viewport is in the page. What is read holds still; the end stays in view until the reader leaves it.
 *
 * It is a feed (WAI-ARIA): its rows are articles, Page Down and Page Up move between them once one has the focus. It is
 * no live region, because rows come and go while it is scrolled: what is new is announced elsewhere.
 */
export function VirtualList<T>(props: VirtualListProps<T>) {
  const { items, keyOf, onAtEnd } = props;
  const [, redraw] = useState(0);
  const latest = useRef(props);
  latest.current = props;
  const byKey = useRef(new Map<string, T>());
  const shown = useRef<readonly T[]>([]);
  const shownNews = useRef(props.news);
  const focused = useRef<string | null>(null);
  const scroll = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const box = useRef<ScrollBox | null>(null);
  box.current ??= createScrollBox({
    estimate: (key) => {
      const item = byKey.current.get(key);
      return item === undefined ? 0 : latest.current.estimate(item);
    },
    onDraw: () => redraw((count) => count + 1),
    onNearStart: () => {
      if (latest.current.hasOlder && !latest.current.isLoadingOlder) latest.current.onNearStart();
    },
  });
  const scrollBox = box.current;

  if (shown.current !== items) {
    const hasNews = shown.current.length > 0 && props.news > shownNews.current;
    shownNews.current = props.news;
    byKey.current = new Map(items.map((item) => [keyOf(item), item]));
    shown.current = items;
    scrollBox.setKeys([...byKey.current.keys()], hasNews);
  }
  const keys = [...byKey.current.keys()];
  const { first, end } = scrollBox.range();
  const indexes = indexesToDraw(first, end, focused.current === null ? -1 : keys.indexOf(focused.current));
  const { isStuck, hasUnseen } = scrollBox.stickiness;
  const isBehind = props.isBehind === true;

  useLayoutEffect(() => {
    scrollBox.attach(scroll.current, content.current);
    redraw((count) => count + 1);
    return () => {
      scrollBox.attach(null, null);
      scrollBox.dispose();
    };
  }, [scrollBox]);
  useLayoutEffect(() => scrollBox.place());
  useEffect(() => onAtEnd?.(isStuck), [isStuck, onAtEnd]);
  // A page that is shorter than the viewport has no scrolling that would ask for more.
  useEffect(() => {
    if (props.hasOlder && !props.isLoadingOlder && first === 0) props.onNearStart();
  }, [first, props.hasOlder, props.isLoadingOlder]);

  const focusRow = (step: 1 | -1): void => {
    const from = focused.current === null ? (step === 1 ? first - 1 : end) : keys.indexOf(focused.current);
    const index = Math.max(
      0,
      Math.min(keys.length - 1, focused.current === null && isStuck ? keys.length - 1 : from + step),
    );
    scrollBox.reveal(index);
    focused.current = keys[index] ?? null;
    redraw((count) => count + 1);
    requestAnimationFrame(() =>
      scroll.current
        ?.querySelector<HTMLElement>(`[aria-posinset="${index + 1}"]`)
        ?.focus({ preventScroll: true }),
    );
  };
  if (props.handle) props.handle.current = { scrollToEnd: () => scrollBox.scrollToEnd(), focusRow };

  const onKeyDown = (event: KeyboardEvent): void => {
    const step = event.key === "PageDown" ? 1 : event.key === "PageUp" ? -1 : null;
    const target = event.target;
    if (event.key === "End" && event.ctrlKey) scrollBox.scrollToEnd();
    else if (step === null || !(target instanceof HTMLElement) || target.tagName !== "ARTICLE") return;
    else focusRow(step);
    event.preventDefault();
  };

  return (
    <div class="virtual">
      {props.isLoadingOlder && <p class="virtual-above">Loading older messages…</p>}
      <div
        ref={scroll}
        class="virtual-scroll"
        role="feed"
        aria-label={props.label}
        aria-busy={props.isLoadingOlder}
        {...scrollable}
        onKeyDown={onKeyDown}
        onFocusIn={(event) => {
          const row =
            event.target instanceof Element ? event.target.closest<HTMLElement>(".virtual-row") : null;
          focused.current = row?.dataset.key ?? null;
        }}
        onFocusOut={() => {
          focused.current = null;
        }}
      >
        <div ref={content} class="virtual-content">
          {indexes.map((index) => {
            const key = keys[index] ?? "";
            const item = byKey.current.get(key);
            return item === undefined ? null : (
              <VirtualRow
                key={key}
                rowKey={key}
                item={item}
                index={index}
                setSize={props.hasOlder ? -1 : keys.length}
                scrollBox={scrollBox}
                labelOf={props.labelOf}
                draw={props.draw}
              />
            );
          })}
        </div>
      </div>
      {(!isStuck || isBehind) && (
        <div class="virtual-to-end">
          <Button
            icon="down"
            onClick={(event) => {
              scrollBox.scrollToEnd();
              // The button goes, and must not take the focus along. A touch has left it where it was.
              if (document.activeElement === event.currentTarget)
                scroll.current?.focus({ preventScroll: true });
            }}
          >
            {hasUnseen || isBehind ? "New output below" : "To the end"}
          </Button>
        </div>
      )}
    </div>
  );
}

interface VirtualRowProps<T> {
  readonly rowKey: string;
  readonly item: T;
  readonly index: number;
  readonly setSize: number;
  readonly scrollBox: ScrollBox;
  readonly labelOf: (item: T) => string;
  readonly draw: (item: T) => ComponentChildren;
}

const VirtualRow = memo(DrawnRow, (before, after) =>
  (Object.keys(after) as (keyof typeof after)[]).every((name) => before[name] === after[name]),
) as typeof DrawnRow;

function DrawnRow<T>({ rowKey, item, index, setSize, scrollBox, labelOf, draw }: VirtualRowProps<T>) {
  const row = useRef<HTMLElement>(null);
  useLayoutEffect(() => {
    scrollBox.attachRow(rowKey, row.current);
    return () => scrollBox.attachRow(rowKey, null);
  }, [rowKey, scrollBox]);
  return (
    <article
      ref={row}
      class="virtual-row"
      data-key={rowKey}
      tabIndex={-1}
      aria-label={labelOf(item)}
      aria-posinset={index + 1}
      aria-setsize={setSize}
    >
      {draw(item)}
    </article>
  );
}

/** Those near the viewport, and the one that holds the focus: to take it out of the page would lose it. */
function indexesToDraw(first: number, end: number, focusedIndex: number): number[] {
  const indexes = Array.from({ length: end - first }, (_, offset) => first + offset);
  if (focusedIndex >= 0 && (focusedIndex < first || focusedIndex >= end)) indexes.push(focusedIndex);
  return indexes.sort((a, b) => a - b);
}
