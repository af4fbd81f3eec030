import { type ReadonlySignal, signal } from "@preact/signals";
import type { AgentEvent } from "../../src/protocol/events.ts";
import type { Transcript } from "./draft.ts";
import type { Row } from "./rows.ts";
import { emptyTranscript, shownRows } from "./transcript.ts";
import {
  isTooLarge,
  openWindow,
  type TranscriptPage,
  type TranscriptWindow,
  type WindowLimits,
  windowLimits,
  withLive,
  withNewestPage,
  withOlderPage,
} from "./transcript-window.ts";

export interface TranscriptView {
  readonly phase: "loading" | "ready" | "failed";
  /** Why it could not be read. */
  readonly problem: unknown;
  readonly rows: readonly Row[];
  readonly transcript: Transcript;
  readonly hasOlder: boolean;
  readonly isLoadingOlder: boolean;
  /** The reader is far up, and more has come than is kept for them: the end must be read anew. */
  readonly isBehind: boolean;
  readonly damaged: number;
}

export interface TranscriptSourceOptions {
  /** Reads a page: the newest, or the one before an older page's `before`. */
  readonly fetchPage: (before: number | null) => Promise<TranscriptPage>;
  /** Calls back once at the next frame. */
  readonly schedule: (work: () => void) => void;
  readonly limits?: WindowLimits;
  readonly now?: () => number;
}

/**
 * The conversation of one agent: its newest records, older ones when asked for, and what comes live. Live events are taken
 * in once a frame, however many there are. Nothing is kept beyond the limits: at the end of the session the window is then
 * read anew; far above it, live events are let go until the reader comes back.
 */
export interface TranscriptSource {
  readonly view: ReadonlySignal<TranscriptView>;
  /** Live events of this agent. */
  hear(event: AgentEvent): void;
  /** Something may have been missed: reads the end anew. */
  reload(): void;
  loadOlder(): void;
  /** Whether the reader is at the end, where nothing that is old needs to stay. */
  setAtEnd(isAtEnd: boolean): void;
  close(): void;
}

/** A reader who is far up keeps this many times the limits. */
const patience = 4;
const retryOlderMs = 3_000;

export function createTranscriptSource(options: TranscriptSourceOptions): TranscriptSource {
  const { fetchPage, schedule, limits = windowLimits, now = Date.now } = options;
  let window: TranscriptWindow | null = null;
  let heard: AgentEvent[] = [];
  /** Since the end is being read: the page may not hold them yet, whatever shows them already. */
  let heardMeanwhile: AgentEvent[] = [];
  let isScheduled = false;
  let isLoading = false;
  let mustLoadAgain = false;
  let isLoadingOlder = false;
  let olderAllowedAtMs = 0;
  let isAtEnd = true;
  let isBehind = false;
  let isClosed = false;
  const view = signal<TranscriptView>({
    phase: "loading",
    problem: null,
    rows: [],
    transcript: emptyTranscript,
    hasOlder: false,
    isLoadingOlder: false,
    isBehind: false,
    damaged: 0,
  });

  function show(): void {
    if (window === null) return;
    view.value = {
      phase: "ready",
      problem: null,
      rows: shownRows(window.transcript),
      transcript: window.transcript,
      hasOlder: window.before !== null,
      isLoadingOlder,
      isBehind,
      damaged: window.damaged,
    };
  }

  function flush(): void {
    isScheduled = false;
    if (isClosed || window === null || isBehind || heard.length === 0) return;
    window = withLive(window, heard);
    heard = [];
    if (isAtEnd ? isTooLarge(window, limits) : isTooLarge(window, scaled(limits))) trim();
    show();
  }

  function trim(): void {
    if (isAtEnd) void load("replace");
    else isBehind = true;
  }

  async function load(how: "join" | "replace"): Promise<void> {
    if (isLoading) {
      mustLoadAgain = true;
      return;
    }
    isLoading = true;
    try {
      do {
        mustLoadAgain = false;
        heardMeanwhile = [];
        const page = await fetchPage(null);
        if (isClosed) return;
        take(page, how);
      } while (mustLoadAgain);
    } catch (problem) {
      if (!isClosed && window === null) view.value = { ...view.value, phase: "failed", problem };
    } finally {
      isLoading = false;
      heardMeanwhile = [];
    }
  }

  function take(page: TranscriptPage, how: "join" | "replace"): void {
    const joined = window === null || how === "replace" ? openWindow(page) : withNewestPage(window, page);
    // Who reads far up keeps what they read.
    if (joined === null && !isAtEnd) isBehind = true;
    else {
      isBehind = false;
      window = withLive(joined ?? openWindow(page), heardMeanwhile);
      heard = [];
    }
    show();
  }

  async function loadOlder(): Promise<void> {
    const at = window?.before ?? null;
    if (at === null || isLoadingOlder || isLoading || now() < olderAllowedAtMs) return;
    isLoadingOlder = true;
    show();
    try {
      const page = await fetchPage(at);
      // Read anew meanwhile: the page no longer joins.
      if (!isClosed && window !== null && window.before === at) window = withOlderPage(window, page);
    } catch {
      // It is asked for again when the reader comes near the beginning again, a while later.
      olderAllowedAtMs = now() + retryOlderMs;
    } finally {
      isLoadingOlder = false;
      if (!isClosed) show();
    }
  }

  void load("join");

  return {
    view,
    hear(event) {
      if (isClosed) return;
      if (isLoading) heardMeanwhile.push(event);
      if (isBehind || window === null) return;
      heard.push(event);
      if (isScheduled) return;
      isScheduled = true;
      schedule(flush);
    },
    reload: () => void load("join"),
    loadOlder: () => void loadOlder(),
    setAtEnd(next) {
      isAtEnd = next;
      if (next && isBehind) void load("replace");
    },
    close() {
      isClosed = true;
      heard = [];
      window = null;
    },
  };
}

function scaled(limits: WindowLimits): WindowLimits {
  return { records: limits.records * patience, chars: limits.chars * patience };
}
