import { randomInt } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { answerCalls } from "../harness/child.ts";
import { RawClient } from "../harness/raw-client.ts";

// Phones that come back: each opens its socket again when it has closed, a little later each time.

const parallelHandshakes = 16;
const firstPauseMs = 200;
const maxPauseMs = 5_000;

let port = 0;
let token = "";
let open = 0;
let closed = 0;
let wanted = 0;
let told: (() => void) | null = null;

async function keepOpen(): Promise<void> {
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(maxPauseMs, pauseMs * 2)) {
    try {
      await once();
      return;
    } catch {
      // Refused, or nobody there yet: later again.
      await delay(pauseMs * (0.5 + randomInt(1_000) / 1_000));
    }
  }
}

/** Resolves when it is open; what happens when it closes is seen to. */
async function once(): Promise<void> {
  let isOpen = false;
  let failed: (error: Error) => void = () => undefined;
  const failure = new Promise<never>((_, reject) => {
    failed = reject;
  });
  const client = new RawClient(port, {
    onFrame: () => undefined,
    onClosed() {
      if (!isOpen) return failed(new Error("closed"));
      open -= 1;
      closed += 1;
      void keepOpen();
    },
  });
  failure.catch(() => undefined);
  await Promise.race([client.upgrade("/api/ws", token), failure]);
  isOpen = true;
  open += 1;
  if (open === wanted) told?.();
}

const calls = {
  /** Opens `count` sockets and keeps them open. Resolves when all are. */
  async connect(options: { readonly port: number; readonly token: string; readonly count: number }) {
    ({ port, token, count: wanted } = options);
    let next = 0;
    const worker = async (): Promise<void> => {
      while (next++ < options.count) await keepOpen();
    };
    await Promise.all(Array.from({ length: parallelHandshakes }, worker));
  },
  state: () => ({ open, closed }),
  /** Resolves when all are open, after at least one has closed. */
  async back({ closedBefore }: { readonly closedBefore: number }): Promise<void> {
    while (closed === closedBefore || open < wanted) {
      await Promise.race([
        delay(100),
        new Promise<void>((resolve) => {
          told = resolve;
        }),
      ]);
    }
  },
};
export type ReturningCalls = typeof calls;

answerCalls(calls);
