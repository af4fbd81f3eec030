import type { BareSocketCalls } from "../children/bare-sockets.ts";
import { startChild } from "../harness/child.ts";
import { startDaemon } from "../harness/daemon.ts";
import { type NativeClient, openNativeClient, startJob } from "../harness/native-client.ts";
import { describePairs, measurePairs, number } from "../harness/pairs.ts";
import { cpuSeconds } from "../harness/process-stats.ts";
import { median, type Row } from "../harness/row.ts";

const bytes = 128 * 1024 * 1024;
const chunkBytes = 64 * 1024;
const line = "2026-11-30T12:00:00Z INFO handler: request 4711 done in 12 ms, 200 OK, 18230 bytes";
const pairs = 5;

export const jobWatched: Row = {
  figure: "a job's output read by one watcher: bytes/s",
  against: "the same 64 KiB JSON requests and replies over bare `ws`",
  bound: { atLeast: 0.8 },
  unit: "",
  async measure() {
    const daemon = await startDaemon();
    const bare = startChild<BareSocketCalls>("bare-sockets");
    const clients: NativeClient[] = [];
    async function read(
      client: NativeClient,
      job: string,
      pid: number,
      cpuMicros: number[],
    ): Promise<number> {
      const cpuBefore = cpuSeconds(pid).own;
      const startedMs = performance.now();
      let offset = 0;
      let done = false;
      while (!done) {
        const reply = await client.ask({ type: "job_output", job, offset, limit: chunkBytes });
        offset = reply.next_offset as number;
        done = reply.done as boolean;
      }
      if (offset !== bytes) throw new Error(`${offset} bytes were read`);
      const seconds = (performance.now() - startedMs) / 1_000;
      cpuMicros.push(((cpuSeconds(pid).own - cpuBefore) * 1e6) / (bytes / chunkBytes));
      return bytes / seconds / 1e6;
    }
    try {
      const ours = await openNativeClient(`${daemon.url.replace("http", "ws")}/api/ws`, daemon.masterToken);
      clients.push(ours);
      const { id, finished } = await startJob(ours, `yes '${line}' | head -c ${bytes}`);
      const { state } = await finished;
      if (state !== "exited") throw new Error(`the job ended: ${state}`);
      const text = `${line}\n`.repeat(Math.ceil(chunkBytes / (line.length + 1))).slice(0, chunkBytes);
      const port = await bare.call("replies", { text, size: bytes });
      const theirs = await openNativeClient(`ws://127.0.0.1:${port}/`, null);
      clients.push(theirs);
      const [cpu, bareCpu]: [number[], number[]] = [[], []];
      const measured = await measurePairs(
        pairs,
        () => read(ours, id, daemon.pid, cpu),
        () => read(theirs, id, bare.pid, bareCpu),
      );
      return {
        samples: measured.ratios,
        detail: `${describePairs(measured, "MB/s")}; server CPU ${number(median(cpu))} against ${number(median(bareCpu))} µs a chunk`,
      };
    } finally {
      for (const client of clients) client.close();
      await bare.stop();
      await daemon.stop();
    }
  },
};
