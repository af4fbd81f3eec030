import { closeSync, fstatSync } from "node:fs";
import { limits } from "../../protocol/limits.ts";
import { leftOutMarker, planForward, refill, windowBytes } from "./call-output.ts";
import type { JobEntry } from "./job-entry.ts";
import type { JobFiles } from "./job-files.ts";
import type { JobLife } from "./job-life.ts";
import type { CallResult, CallSpec } from "./jobs.ts";
import type { Launched } from "./launch-job.ts";
import { findUnitStart, openLog, readChunk } from "./read-log.ts";

const lookMs = 50;
const resultPartBytes = 32 * 1024;

export interface RunCallOptions {
  readonly files: JobFiles;
  readonly life: JobLife;
  readonly graceMs: number;
  readonly launch: (beforeSpawn: () => void) => Promise<Launched>;
  readonly onWarning: (message: string) => void;
}

/**
 * Runs one foreground call and waits for it. What it prints goes to a file as with a job and is read from there, so a
 * flood costs no more than what is forwarded of it.
 */
export async function runCall(spec: CallSpec, options: RunCallOptions): Promise<CallResult> {
  if (spec.signal.aborted) return cancelledBefore;
  let launched: Launched;
  try {
    launched = await options.launch(() => spec.signal.throwIfAborted());
  } catch (error) {
    if (spec.signal.aborted) return cancelledBefore;
    throw error;
  }
  const { entry } = launched;
  if (launched.exited === null)
    return { exitCode: null, output: "", cancelled: false, error: entry.record.reason };

  const fd = openLog(options.files.logPath(entry.record.id));
  const abort = (): void => {
    options.life.end(entry, { reason: null, graceMs: options.graceMs }).catch((error: unknown) => {
      options.onWarning(`Call ${entry.record.id} could not be ended (${String(error)}).`);
    });
  };
  spec.signal.addEventListener("abort", abort, { once: true });
  if (spec.signal.aborted) abort();
  try {
    await forwardUntilEnd(entry, fd, spec.onOutput);
    const { state, exit_code, reason } = entry.record;
    return {
      exitCode: exit_code,
      output: await headAndTail(fd),
      cancelled: spec.signal.aborted && state === "killed",
      error: reason,
    };
  } finally {
    spec.signal.removeEventListener("abort", abort);
    closeSync(fd);
  }
}

const cancelledBefore: CallResult = { exitCode: null, output: "", cancelled: true, error: null };

async function forwardUntilEnd(entry: JobEntry, fd: number, onOutput: (text: string) => void): Promise<void> {
  let position = 0;
  let budgetBytes = windowBytes;
  let forwardedBytes = 0;
  let lookedAtMs = performance.now();

  async function forward(ended: boolean): Promise<void> {
    const nowMs = performance.now();
    budgetBytes = refill(budgetBytes, nowMs - lookedAtMs);
    lookedAtMs = nowMs;
    const size = fstatSync(fd).size;
    let text = "";
    for (const step of planForward({ position, size, budgetBytes, forwardedBytes, ended })) {
      if (step.do === "skip") {
        const to = await findUnitStart(fd, step.to);
        if (to > position) text += leftOutMarker(to - position);
        position = to;
        continue;
      }
      for (let left = step.maxBytes; left > 0; ) {
        const limit = Math.max(limits.jobOutputMinBytes, Math.min(left, windowBytes));
        const chunk = await readChunk(fd, { offset: position, limit }, ended);
        const taken = chunk.nextOffset - position;
        if (taken === 0) break;
        text += chunk.output;
        position = chunk.nextOffset;
        left -= taken;
        budgetBytes = Math.max(0, budgetBytes - taken);
        forwardedBytes += taken;
      }
    }
    if (text !== "") onOutput(text);
  }

  let ended = false;
  const end = entry.ended.then(() => {
    ended = true;
  });
  for (;;) {
    await Promise.race([end, pause(lookMs)]);
    // Taken before the look: what is written until the end is then still seen by the last one.
    const last = ended;
    await forward(last);
    if (last) return;
  }
}

/** The whole output, or its beginning and its end. */
async function headAndTail(fd: number): Promise<string> {
  const size = fstatSync(fd).size;
  const head = await readChunk(fd, { offset: 0, limit: resultPartBytes }, true);
  if (head.nextOffset >= size) return head.output;
  const tail = await readChunk(fd, { limit: resultPartBytes }, true);
  if (tail.offset > head.nextOffset)
    return head.output + leftOutMarker(tail.offset - head.nextOffset) + tail.output;
  return head.output + (await readChunk(fd, { offset: head.nextOffset }, true)).output;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
