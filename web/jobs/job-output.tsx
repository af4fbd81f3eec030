import { useComputed, useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import type { Job } from "../../src/protocol/objects.ts";
import { AnsiLineView } from "../ansi/ansi-text.tsx";
import { isBoolean, preference } from "../state/preference.ts";
import { useSession } from "../state/session.ts";
import { Button } from "../ui/button.tsx";
import { memo } from "../ui/memo.ts";
import { scrollable } from "../ui/scrollable.ts";
import { EmptyState, ErrorState, Spinner } from "../ui/states.tsx";
import { blocksOf, findLines, isSameBlock, type LineBlock, nextFound } from "./find-lines.ts";
import { openJobLog } from "./job-log.ts";
import { OutputTools } from "./output-tools.tsx";
import "./job-output.css";

/** What is read at first, from the end. */
const firstBytes = 256 * 1024;
/** What each "earlier" adds. */
const earlierBytes = 1024 * 1024;
const linesOfABlock = 100;
/** Closer to the end counts as the end. */
const endPx = 40;

const wrapsLines = preference("job output wraps", true, isBoolean);

/** A job's output, live, with its colours: follows the end until the reader scrolls away, and finds words in it. */
export function JobOutput({ job }: { readonly job: Job }) {
  const session = useSession();
  const fromBytes = useSignal(Math.max(0, job.bytes - firstBytes));
  const log = useMemo(() => openJobLog(session, job.id, fromBytes.value), [session, job.id, fromBytes.value]);
  useEffect(() => () => log.close(), [log]);
  const view = log.view.value;

  const scroll = useRef<HTMLElement>(null);
  const isFollowing = useSignal(true);
  const search = useSignal("");
  const current = useSignal<number | null>(null);
  const found = useComputed(() => findLines(log.view.value.lines, search.value));

  useLayoutEffect(() => {
    const box = scroll.current;
    if (box !== null && isFollowing.value) box.scrollTop = box.scrollHeight;
  }, [view.lines, isFollowing.value]);
  useEffect(() => {
    if (current.value === null) return;
    scroll.current?.querySelector(`[data-line="${current.value}"]`)?.scrollIntoView({ block: "center" });
  }, [current.value]);

  function find(step: 1 | -1): void {
    isFollowing.value = false;
    current.value = nextFound(found.value, current.value, step);
  }

  const foundLines = new Set(found.value);
  return (
    <div class="job-output">
      <OutputTools
        search={search.value}
        onSearch={(text) => {
          search.value = text;
          current.value = null;
        }}
        count={found.value.length}
        at={current.value === null ? null : found.value.indexOf(current.value) + 1}
        onStep={find}
        isFollowing={isFollowing.value}
        onFollow={() => {
          isFollowing.value = true;
        }}
        wraps={wrapsLines.value}
        onWraps={(wraps) => {
          wrapsLines.value = wraps;
        }}
      />
      {view.problem !== null && <ErrorState problem={view.problem} />}
      {view.isLoading && <Spinner />}
      <section
        ref={scroll}
        class={wrapsLines.value ? "job-log wraps" : "job-log"}
        aria-label="Output"
        {...scrollable}
        onScroll={(event) => {
          const box = event.currentTarget;
          isFollowing.value = box.scrollHeight - box.scrollTop - box.clientHeight < endPx;
        }}
      >
        {view.fromBytes > 0 && !view.isLoading && !view.isCut && (
          <Button
            kind="quiet"
            icon="up"
            onClick={() => {
              isFollowing.value = false;
              fromBytes.value = Math.max(0, view.fromBytes - earlierBytes);
            }}
          >
            Show earlier output
          </Button>
        )}
        {view.isCut && <p class="quiet-text">What came before is in the file: download it.</p>}
        {!view.isLoading && view.lines.length === 0 && view.problem === null && (
          <EmptyState
            icon="jobs"
            title={job.state === "running" ? "It has printed nothing yet" : "It printed nothing"}
          />
        )}
        {blocksOf(view.lines, linesOfABlock).map((block) => {
          const isIn = (number: number): boolean => Math.floor(number / linesOfABlock) === block.key;
          return (
            <Block
              key={block.key}
              block={block}
              found={foundLines.size === 0 ? "" : [...foundLines].filter(isIn).join(" ")}
              current={current.value !== null && isIn(current.value) ? current.value : null}
            />
          );
        })}
      </section>
    </div>
  );
}

interface BlockProps {
  readonly block: LineBlock;
  /** Numbers of the lines that were found in it. */
  readonly found: string;
  readonly current: number | null;
}

const Block = memo(
  ({ block, found, current }: BlockProps) => {
    const marked = new Set(found.split(" ").filter(Boolean).map(Number));
    return (
      <pre dir="ltr">
        {block.lines.map((line) => (
          <span
            key={line.number}
            data-line={marked.has(line.number) ? line.number : undefined}
            class={line.number === current ? "found current" : marked.has(line.number) ? "found" : undefined}
          >
            <AnsiLineView line={line} />
            {"\n"}
          </span>
        ))}
      </pre>
    );
  },
  (before, after) =>
    before.found === after.found &&
    before.current === after.current &&
    isSameBlock(before.block, after.block),
);
