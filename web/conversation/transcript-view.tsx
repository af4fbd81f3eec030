import type { RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { AnswerError } from "../../src/client/answer-error.ts";
import { announce } from "../state/announcer.ts";
import { errorText } from "../state/error-text.ts";
import type { Row } from "../transcript/rows.ts";
import type { TranscriptSource } from "../transcript/transcript-source.ts";
import { EmptyState, ErrorState, Spinner } from "../ui/states.tsx";
import { VirtualList, type VirtualListHandle } from "../virtual/virtual-list.tsx";
import { announcementOf, estimateRow, labelOfRow } from "./row-facts.ts";
import { RowView } from "./rows/row-view.tsx";

/** The daemon knows no such conversation. */
export function isMissing({ phase, problem }: TranscriptSource["view"]["value"]): boolean {
  return phase === "failed" && problem instanceof AnswerError && problem.status === 404;
}

interface TranscriptViewProps {
  readonly source: TranscriptSource;
  readonly handle: RefObject<VirtualListHandle | null>;
  /** What to do first, while nothing was said. */
  readonly hint: string;
}

/** The conversation itself: all rows, the newest in view. */
export function TranscriptView({ source, handle, hint }: TranscriptViewProps) {
  const view = source.view.value;
  useAnnouncedRows(view.rows, view.phase === "ready");
  if (view.phase === "failed") {
    const isGone = isMissing(view);
    return (
      <ErrorState
        problem={
          isGone ? "There is no such conversation. It may have been deleted." : errorText(view.problem)
        }
        {...(!isGone && { onRetry: source.reload })}
      />
    );
  }
  if (view.phase === "loading") return <Spinner />;
  const isEmpty = view.rows.every(({ kind }) => kind === "start");
  return (
    <>
      {view.damaged > 0 && (
        <p class="conversation-note">
          {view.damaged === 1 ? "One record" : `${view.damaged} records`} of this conversation cannot be read;
          the others are whole.
        </p>
      )}
      {isEmpty && !view.hasOlder ? (
        <EmptyState icon="chat" title="Nothing was said yet">
          {hint}
        </EmptyState>
      ) : (
        <>
          {/* Headings of messages stand below this one. */}
          <h2 class="unseen">What was said</h2>
          <VirtualList
            label="Conversation"
            items={view.rows}
            keyOf={keyOf}
            estimate={estimateRow}
            labelOf={labelOfRow}
            draw={draw}
            news={view.transcript.seq}
            hasOlder={view.hasOlder}
            isLoadingOlder={view.isLoadingOlder}
            onNearStart={source.loadOlder}
            onAtEnd={source.setAtEnd}
            isBehind={view.isBehind}
            handle={handle}
          />
        </>
      )}
    </>
  );
}

const keyOf = (row: Row): string => row.key;
const draw = (row: Row) => <RowView row={row} />;

/** Says what is new at the end, row by row and not word by word. */
function useAnnouncedRows(rows: readonly Row[], isReady: boolean): void {
  const last = useRef<string | null>(null);
  useEffect(() => {
    const row = rows.at(-1);
    if (!isReady || row === undefined || (row.kind === "assistant" && row.isOpen) || row.key === last.current)
      return;
    const from =
      last.current === null ? rows.length : rows.findLastIndex(({ key }) => key === last.current) + 1;
    last.current = row.key;
    const said = rows.slice(Math.max(from, rows.length - maxAnnounced)).map(announcementOf);
    const text = said.filter((each) => each !== null).join(" ");
    if (text !== "") announce(text);
  }, [rows, isReady]);
}

const maxAnnounced = 5;
