import { useComputed, useSignal, useSignalEffect } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { useSession } from "../state/session.ts";
import { type Held, holdRequests, nextRemovalMs, waitingOf } from "./held-requests.ts";
import { PermissionCard } from "./permission-card.tsx";
import { QuestionCard } from "./question-card.tsx";
import "./requests.css";
import { createTapGuard } from "./tap-guard.ts";

interface RequestListProps {
  /** The request to begin at. */
  readonly at?: string | null;
  /** This device answered one. */
  readonly onAnswered?: () => void;
}

/**
 * All that waits for a person, oldest first. A card and its buttons belong to one request and what is shown of it; cards
 * come at the end, and go only a while after they ended; presses do not count while the list has just moved.
 */
export function RequestList({ at = null, onAnswered }: RequestListProps) {
  const list = useRef<HTMLDivElement>(null);
  const guard = useRef(createTapGuard()).current;
  const isSettled = useSignal(false);
  const held = useHeld();
  const keys = held.map(({ key, end }) => `${key}${end === null ? "" : " ended"}`).join("\n");

  useLayoutEffect(() => {
    const element = list.current;
    if (element === null) return undefined;
    let timer: ReturnType<typeof setTimeout>;
    const moved = (): void => {
      guard.moved(performance.now());
      isSettled.value = false;
      clearTimeout(timer);
      timer = setTimeout(() => {
        isSettled.value = true;
      }, guard.settledAtMs - performance.now());
    };
    moved();
    const observer = new ResizeObserver(moved);
    observer.observe(element);
    addEventListener("resize", moved);
    return () => {
      clearTimeout(timer);
      observer.disconnect();
      removeEventListener("resize", moved);
    };
  }, [guard, isSettled]);
  useLayoutEffect(() => {
    // A card that ended gives its room away only when it goes; what comes or goes moves the others.
    guard.moved(performance.now());
  }, [held.length, guard]);
  useFocusKept(list, keys);
  useEffect(() => {
    if (at === null) return;
    const card = list.current?.querySelector<HTMLElement>(`[data-request="${CSS.escape(at)}"]`);
    card?.scrollIntoView({ block: "nearest" });
    card?.focus({ preventScroll: true });
    guard.moved(performance.now());
  }, [at, guard]);

  const props = {
    isSettled: isSettled.value,
    counts: (event: MouseEvent) => guard.counts(performance.now(), event.detail === 0),
    onAnswered: () => onAnswered?.(),
  };
  return (
    <div ref={list} class="request-list" tabIndex={-1} onPointerDown={() => guard.pressed(performance.now())}>
      {held.map((card) => {
        const isFirst = card.waiting.request.request_id === at;
        return card.waiting.kind === "permission" ? (
          <PermissionCard
            key={card.key}
            held={card}
            request={card.waiting.request}
            isFirst={isFirst}
            {...props}
          />
        ) : (
          <QuestionCard
            key={card.key}
            held={card}
            request={card.waiting.request}
            isFirst={isFirst}
            {...props}
          />
        );
      })}
    </div>
  );
}

/** The cards as they are now, and again when an ended one goes. */
function useHeld(): readonly Held[] {
  const session = useSession();
  const held = useSignal<readonly Held[]>([]);
  const tick = useSignal(0);
  const open = useComputed(() => waitingOf(session.pending.value, session.questions.value));
  useSignalEffect(() => {
    void tick.value;
    const next = holdRequests(held.peek(), open.value, session.outcomes.value, Date.now());
    held.value = next;
  });
  useSignalEffect(() => {
    const removal = nextRemovalMs(held.value);
    if (removal === null) return undefined;
    const timer = setTimeout(
      () => {
        tick.value += 1;
      },
      Math.max(0, removal - Date.now()) + 10,
    );
    return () => clearTimeout(timer);
  });
  return held.value;
}

/** When the card with the focus goes, the list has it: it must never fall to the answer of another card. */
function useFocusKept(list: { readonly current: HTMLElement | null }, keys: string): void {
  const hadFocus = useRef(false);
  useEffect(() => {
    const element = list.current;
    if (element === null) return undefined;
    const note = (event: FocusEvent): void => {
      hadFocus.current = event.type === "focusin";
    };
    element.addEventListener("focusin", note);
    // Removed elements lose the focus without a word, so that it still counts as had.
    const left = (event: FocusEvent): void => {
      if (event.relatedTarget !== null && !element.contains(event.relatedTarget as Node))
        hadFocus.current = false;
    };
    element.addEventListener("focusout", left);
    return () => {
      element.removeEventListener("focusin", note);
      element.removeEventListener("focusout", left);
    };
  }, [list]);
  useEffect(() => {
    if (hadFocus.current && document.activeElement === document.body) list.current?.focus();
  }, [keys, list]);
}
