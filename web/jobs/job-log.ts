import { type ReadonlySignal, signal } from "@preact/signals";
import { followJob } from "../../src/client/follow-job.ts";
import { type AnsiLine, createAnsiScreen } from "../ansi/ansi-screen.ts";
import { errorText } from "../state/error-text.ts";
import type { Session } from "../state/session.ts";
import { createGate } from "./gate.ts";
import { createPace } from "./pace.ts";
import { boundaryFrom, logSize, readChunk } from "./read-log.ts";

export interface JobLogView {
  readonly lines: readonly AnsiLine[];
  /** Where what is shown begins, in bytes of the log. */
  readonly fromBytes: number;
  /** True when lines fell off the beginning of the view. */
  readonly isCut: boolean;
  readonly isLoading: boolean;
  /** Number of the line at which the view began that was asked for what came earlier; null when none did, or it is not there yet. */
  readonly knownLine: number | null;
  readonly problem: string | null;
}

export interface JobLogOptions {
  /** Where to begin, in bytes of the log. Null: near its end. */
  readonly fromBytes: number | null;
  /** From where on it was shown before; what is earlier is read at once, as it is needed whole. */
  readonly knownBytes: number | null;
}

export interface JobLog {
  readonly view: ReadonlySignal<JobLogView>;
  /** While it is held, no line that is shown is given up for a newer one. */
  hold(isHeld: boolean): void;
  close(): void;
}

/** What is kept in the page; a longer log is there as a file. */
const maxLines = 10_000;
/** What is read at first, from the end. */
const firstBytes = 256 * 1024;
/** Who falls this much farther behind than at the beginning goes on near the end: nobody reads a flood. */
const maxFallBackBytes = 2 * 1024 * 1024;

/**
 * Reads a job's log, and goes on as it grows. However fast the output comes, the view changes no more often than the page
 * can draw beside everything else, and no more is read than is drawn.
 */
export function openJobLog(session: Session, job: string, { fromBytes, knownBytes }: JobLogOptions): JobLog {
  const { rest, client } = session;
  let screen = createAnsiScreen({ maxLines });
  let isClosed = false;
  let startBytes = fromBytes ?? 0;
  let knownLine: number | null = null;
  let reader: AsyncGenerator<unknown, void, void> | null = null;
  const view = signal<JobLogView>({
    lines: [],
    fromBytes: startBytes,
    isCut: false,
    isLoading: true,
    knownLine,
    problem: null,
  });
  const gate = createGate();
  let shownScreen = screen;
  let isBehind = false;
  /** Whether a line that is shown would go. */
  const wouldDrop = (): boolean =>
    view.value.lines.length > 0 &&
    (screen !== shownScreen || screen.lines[0]?.number !== view.value.lines[0]?.number);
  const pace = createPace(() => {
    if (isClosed) return;
    isBehind = gate.isHeld && wouldDrop();
    if (isBehind) return;
    shownScreen = screen;
    view.value = {
      lines: screen.lines,
      fromBytes: startBytes,
      isCut: screen.dropped > 0,
      isLoading: false,
      knownLine,
      problem: null,
    };
  });

  async function nearEnd(): Promise<number> {
    const wanted = (await logSize(rest, job)) - firstBytes;
    return wanted <= 0 ? 0 : boundaryFrom(rest, job, wanted);
  }

  /** True: it fell behind, and should go on near the end. */
  async function follow(offset: number): Promise<boolean> {
    const chunks = followJob(client, job, { offset });
    reader = chunks;
    let allowedBytes: number | null = null;
    for await (const { output, next_offset, size } of chunks) {
      if (screen.lines.length >= maxLines) await gate.passed();
      if (isClosed) return false;
      screen.write(output);
      const behindBytes = size - next_offset;
      allowedBytes ??= behindBytes + maxFallBackBytes;
      if (behindBytes > 0) await pace.drawn();
      else pace.drawSoon();
      if (behindBytes > allowedBytes) return true;
    }
    return false;
  }

  async function read(): Promise<void> {
    let offset =
      fromBytes === null ? await nearEnd() : await (fromBytes === 0 ? 0 : boundaryFrom(rest, job, fromBytes));
    startBytes = offset;
    while (knownBytes !== null && offset < knownBytes && !isClosed) {
      const chunk = await readChunk(rest, job, offset, knownBytes - offset);
      if (chunk.output === "") break;
      screen.write(chunk.output);
      offset = chunk.next_offset;
    }
    if (knownBytes !== null) {
      knownLine = screen.lines.at(-1)?.number ?? 0;
      // What was read there has to have its place below.
      const chunk = await readChunk(rest, job, offset);
      screen.write(chunk.output);
      offset = chunk.next_offset;
    }
    if (isClosed) return;
    pace.drawSoon();
    while (await follow(offset)) {
      offset = await nearEnd();
      startBytes = offset;
      screen = createAnsiScreen({ maxLines });
    }
  }
  read().catch((error: unknown) => {
    if (!isClosed) view.value = { ...view.value, isLoading: false, problem: errorText(error) };
  });

  return {
    view,
    hold(isHeld) {
      gate.hold(isHeld);
      if (!isHeld && isBehind) pace.drawSoon();
    },
    close() {
      isClosed = true;
      gate.hold(false);
      pace.stop();
      // A reader that waits for more ends with its next look at the log.
      reader?.return().catch(() => undefined);
    },
  };
}
