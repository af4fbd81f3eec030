import { type ReadonlySignal, signal } from "@preact/signals";
import { followJob } from "../../src/client/follow-job.ts";
import { type AnsiLine, createAnsiScreen } from "../ansi/ansi-screen.ts";
import { errorText } from "../state/error-text.ts";
import type { Session } from "../state/session.ts";
import { boundaryFrom } from "./read-log.ts";

export interface JobLogView {
  readonly lines: readonly AnsiLine[];
  /** Where what is shown begins, in bytes of the log. */
  readonly fromBytes: number;
  /** True when lines fell off the beginning of the view. */
  readonly isCut: boolean;
  readonly isLoading: boolean;
  readonly problem: string | null;
}

export interface JobLog {
  readonly view: ReadonlySignal<JobLogView>;
  close(): void;
}

/** What is kept in the page; a longer log is there as a file. */
const maxLines = 10_000;

/**
 * Reads a job's log from about `wantedBytes` on, and goes on as it grows. The view changes once a frame at most, however
 * fast the output comes.
 */
export function openJobLog(session: Session, job: string, wantedBytes: number): JobLog {
  const view = signal<JobLogView>({
    lines: [],
    fromBytes: wantedBytes,
    isCut: false,
    isLoading: true,
    problem: null,
  });
  const screen = createAnsiScreen({ maxLines });
  let isClosed = false;
  let isDue = false;
  let fromBytes = wantedBytes;
  let reader: AsyncGenerator<unknown, void, void> | null = null;

  function show(): void {
    isDue = false;
    if (isClosed) return;
    view.value = {
      lines: screen.lines,
      fromBytes,
      isCut: screen.dropped > 0,
      isLoading: false,
      problem: null,
    };
  }
  function showSoon(): void {
    if (isDue) return;
    isDue = true;
    requestAnimationFrame(show);
  }

  async function read(): Promise<void> {
    try {
      fromBytes = wantedBytes === 0 ? 0 : await boundaryFrom(session.rest, job, wantedBytes);
      const chunks = followJob(session.client, job, { offset: fromBytes });
      reader = chunks;
      if (isClosed) return;
      showSoon();
      for await (const { output } of chunks) {
        if (isClosed) return;
        screen.write(output);
        showSoon();
      }
    } catch (error) {
      if (!isClosed) view.value = { ...view.value, isLoading: false, problem: errorText(error) };
    }
  }
  void read();

  return {
    view,
    close() {
      isClosed = true;
      // A reader that waits for more ends with its next look at the log.
      reader?.return().catch(() => undefined);
    },
  };
}
