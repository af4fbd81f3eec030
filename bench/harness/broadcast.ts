import { once } from "node:events";
import { createServer } from "node:net";
import { setTimeout as delay } from "node:timers/promises";

/** After so many events that all clients have, one byte comes back on the control connection. */
export const milestoneEvents = 100;
/** So many may be under way: well below what a client's queue holds. */
const windowEvents = 1_000;
const batchEvents = 20;

/** How the servers of both sides send: the same steps, so that only what `send` does differs. */
export interface Broadcaster {
  /** Where the receivers report their milestones. */
  readonly controlPort: number;
  /** Sends `count` events as fast as the receivers take them. */
  flood(count: number): Promise<void>;
  /** Sends `count` events without waiting for anybody. */
  pour(count: number): Promise<void>;
  /** Sends `count` events, one each `intervalMs`, and returns when each left, in microseconds of the machine's clock. */
  drip(count: number, intervalMs: number): Promise<number[]>;
}

export async function createBroadcaster(send: () => void): Promise<Broadcaster> {
  let milestones = 0;
  let reached: () => void = () => undefined;
  const control = createServer((socket) =>
    socket.on("data", (bytes) => {
      milestones += bytes.length;
      reached();
    }),
  ).listen(0, "127.0.0.1");
  await once(control, "listening");
  const address = control.address();
  return {
    controlPort: typeof address === "object" && address !== null ? address.port : 0,
    async flood(count) {
      milestones = 0;
      for (let sent = 0; sent < count; ) {
        for (let batch = 0; batch < batchEvents && sent < count; batch++, sent++) send();
        await new Promise((resolve) => setImmediate(resolve));
        while (sent - milestones * milestoneEvents >= windowEvents)
          await new Promise<void>((resolve) => {
            reached = resolve;
          });
      }
    },
    async pour(count) {
      for (let sent = 0; sent < count; ) {
        for (let batch = 0; batch < batchEvents && sent < count; batch++, sent++) send();
        await new Promise((resolve) => setImmediate(resolve));
      }
    },
    async drip(count, intervalMs) {
      const times: number[] = [];
      for (let sent = 0; sent < count; sent++) {
        times.push(machineMicros());
        send();
        await delay(intervalMs);
      }
      return times;
    },
  };
}

/** Microseconds of CLOCK_MONOTONIC: the same for all processes of the machine. */
export function machineMicros(): number {
  return Number(process.hrtime.bigint()) / 1_000;
}
