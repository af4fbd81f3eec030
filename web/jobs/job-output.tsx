import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import type { Job } from "../../src/protocol/objects.ts";
import type { AnsiLine } from "../ansi/ansi-screen.ts";
import { AnsiLineView } from "../ansi/ansi-text.tsx";
import { isBoolean, preference } from "../state/preference.ts";
import { useSession } from "../state/session.ts";
import { Button } from "../ui/button.tsx";
import { memo } from "../ui/memo.ts";
import { scrollable } from "../ui/scrollable.ts";
import { EmptyState, ErrorState, Spinner } from "../ui/states.tsx";
import { blocksOf, findLines, isSameBlock, type LineBlock, nextFound } from "./find-lines.ts";
import { type JobLogOptions, openJobLog } from "./job-log.ts";
import { OutputTools } from "./output-tools.tsx";
import { useLogScroll } from "./use-log-scroll.ts";
import "./job-output.css";

/** What each "earlier" adds. */
const earlierBytes = 1024 * 1024;
const linesOfABlock = 100;

const wrapsLines = preference("job output wraps", true, isBoolean);

interface JobOutputProps {
  readonly job: Job;
  readonly onWholeCommand: () => void;
  /** Stands with what can be done to the output: buttons. */
  readonly children: ComponentChildren;
}

/** A job's output, live, with its colours: follows the end until the reader scrolls away, and finds words in it. */
export function JobOutput({ job, onWholeCommand, children }: JobOutputProps) {
  const session = useSession();
  const options = useSignal<JobLogOptions>({ fromBytes: null, knownBytes: null });
  const log = useMemo(() => openJobLog(session, job.id, options.value), [session, job.id, options.value]);
  useEffect(() => () => log.close(), [log]);

  // What was there stays until what is earlier has come.
  const shown = useRef(log);
  if (shown.current !== log && !log.view.value.isLoading) shown.current = log;
  const isComing = shown.current !== log;
  const view = shown.current.view.value;

  const { box, isFollowing, listeners, bring } = useLogScroll(view.lines);
  const search = useSignal("");
  const current = useSignal<number | null>(null);
  const found = useMemo(() => findLines(view.lines, search.value), [view.lines, search.value]);

  useLayoutEffect(() => {
    log.hold(!isFollowing.value);
  }, [log, isFollowing.value]);
  useLayoutEffect(() => {
    const { knownLine } = view;
    if (knownLine !== null) bring(() => lineElement(box.current, view.lines, knownLine), "start");
  }, [view.knownLine]);
  useEffect(() => {
    const line = current.value;
    if (line !== null) bring(() => lineElement(box.current, view.lines, line), "center");
  }, [current.value]);

  function find(step: 1 | -1): void {
    isFollowing.value = false;
    current.value = nextFound(found, current.value, step);
  }

  return (
    <div class="job-output">
      <OutputTools
        search={search.value}
        onSearch={(text) => {
          search.value = text;
          current.value = null;
        }}
        count={found.length}
        at={current.value === null ? null : found.indexOf(current.value) + 1}
        onStep={find}
        wraps={wrapsLines.value}
        onWraps={(wraps) => {
          wrapsLines.value = wraps;
        }}
        onWholeCommand={onWholeCommand}
      >
        {children}
      </OutputTools>
      {log.view.value.problem !== null && <ErrorState problem={log.view.value.problem} />}
      {view.isLoading && <Spinner />}
      <section
        ref={box}
        class={wrapsLines.value ? "job-log wraps" : "job-log"}
        aria-label="Output"
        {...scrollable}
        {...listeners}
      >
        {view.fromBytes > 0 && !view.isLoading && !view.isCut && (
          <Button
            kind="quiet"
            icon="up"
            isBusy={isComing}
            onClick={() => {
              isFollowing.value = false;
              current.value = null;
              options.value = {
                fromBytes: Math.max(0, view.fromBytes - earlierBytes),
                knownBytes: view.fromBytes,
              };
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
        <Blocks lines={view.lines} found={found} current={current.value} />
      </section>
      {!isFollowing.value && (
        <div class="job-follow">
          <Button
            icon="down"
            onClick={(event) => {
              isFollowing.value = true;
              // The button goes, and must not take the focus along. A touch has left it where it was.
              if (document.activeElement === event.currentTarget) box.current?.focus({ preventScroll: true });
            }}
          >
            Follow
          </Button>
        </div>
      )}
    </div>
  );
}

interface BlocksProps {
  readonly lines: readonly AnsiLine[];
  readonly found: readonly number[];
  readonly current: number | null;
}

function Blocks({ lines, found, current }: BlocksProps) {
  const foundIn = new Map<number, number[]>();
  for (const number of found) {
    const inBlock = foundIn.get(blockOf(number));
    if (inBlock === undefined) foundIn.set(blockOf(number), [number]);
    else inBlock.push(number);
  }
  return (
    <>
      {blocksOf(lines, linesOfABlock).map((block) => (
        <Block
          key={block.key}
          block={block}
          found={foundIn.get(block.key)?.join(" ") ?? ""}
          current={current !== null && blockOf(current) === block.key ? current : null}
        />
      ))}
    </>
  );
}

function blockOf(line: number): number {
  return Math.floor(line / linesOfABlock);
}

/** The element of a line; null when it is not among those that are drawn. */
function lineElement(
  box: HTMLElement | null,
  lines: readonly AnsiLine[],
  line: number,
): Element | null | undefined {
  const first = lines[0]?.number ?? 0;
  const block = box?.querySelector(`pre[data-block="${blockOf(line)}"]`);
  return block?.children[line - Math.max(first, blockOf(line) * linesOfABlock)];
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
      <pre dir="ltr" data-block={block.key}>
        {block.lines.map((line) => (
          <span
            key={line.number}
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
