import { rm } from "node:fs/promises";
import type { ProductCalls } from "../children/product.ts";
import { startChild } from "../harness/child.ts";
import { doorConfig, freeDoor, makeHome } from "../harness/daemon.ts";
import { number } from "../harness/pairs.ts";
import { residentBytes } from "../harness/process-stats.ts";
import { RawClient } from "../harness/raw-client.ts";
import { pairDevice } from "../harness/rest.ts";
import { median, type Row } from "../harness/row.ts";

const eventBytes = 1_024;
const events = 300_000;
const runs = 3;
const queueMb = 4 * 1.048576;
const sampleMs = 20;

export const slowReader: Row = {
  figure: "memory with one client that reads nothing and 300 MB of events: growth at its highest",
  against: "before the first event",
  bound: { atMost: Math.round(queueMb + 50) },
  unit: " MB",
  async measure() {
    const samples: number[] = [];
    const before: number[] = [];
    for (let run = 0; run < runs; run++) {
      const { beforeMb, growthMb } = await pourOverDeafClient();
      before.push(beforeMb);
      samples.push(growthMb);
    }
    return { samples, detail: `${number(median(before))} MB before` };
  },
};

async function pourOverDeafClient(): Promise<{ beforeMb: number; growthMb: number }> {
  const door = await freeDoor();
  const home = await makeHome(doorConfig(door));
  const ours = startChild<ProductCalls>("product");
  let deaf: RawClient | null = null;
  let timer: NodeJS.Timeout | undefined;
  try {
    const daemon = await ours.call("start", { home, eventBytes });
    const { token } = await pairDevice(daemon, door);
    deaf = new RawClient(door.port, { onFrame: () => undefined });
    await deaf.upgrade("/api/ws", token);
    deaf.socket.pause();
    const beforeMb = residentBytes(ours.pid) / 1e6;
    let highestMb = beforeMb;
    timer = setInterval(() => {
      highestMb = Math.max(highestMb, residentBytes(ours.pid) / 1e6);
    }, sampleMs);
    await ours.call("pour", { count: events });
    return { beforeMb, growthMb: highestMb - beforeMb };
  } finally {
    clearInterval(timer);
    deaf?.socket.destroy();
    await ours.stop();
    await rm(home, { recursive: true, force: true, maxRetries: 3 });
  }
}
