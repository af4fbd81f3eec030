import { mkdtemp, rm } from "node:fs/promises";
import { type Daemon, type DoorPort, startDaemon } from "../harness/daemon.ts";
import { type NativeClient, openNativeClient, startJob } from "../harness/native-client.ts";
import { describePairs, measurePairs } from "../harness/pairs.ts";
import { pairDevice } from "../harness/rest.ts";
import { median, type Row } from "../harness/row.ts";
import { startTunnel, tunnelConfig, tunnelUp } from "../harness/tunnel.ts";

const bytes = 128 * 1024 * 1024;
const chunkBytes = 64 * 1024;
const asks = 5_000;
const pairs = 7;

/** Reads the job's whole output; yields MB/s. */
async function read(client: NativeClient, job: string): Promise<number> {
  const startedMs = performance.now();
  let offset = 0;
  for (let done = false; !done; ) {
    const reply = await client.ask({ type: "job_output", job, offset, limit: chunkBytes });
    offset = reply.next_offset as number;
    done = reply.done as boolean;
  }
  return bytes / ((performance.now() - startedMs) / 1_000) / 1e6;
}

/** One small question after the other; yields the median of their round trips in microseconds. */
async function roundTrip(client: NativeClient, job: string): Promise<number> {
  const micros: number[] = [];
  for (let ask = 0; ask < asks; ask++) {
    const startedMs = performance.now();
    await client.ask({ type: "job_output", job, offset: 0, limit: 4 });
    micros.push((performance.now() - startedMs) * 1_000);
  }
  return median(micros);
}

const socketOf = ({ url }: Pick<DoorPort, "url">): string => `${url.replace("http", "ws")}/api/ws`;

export const tunnelDoor: Row = {
  figure: "bytes/s of a job's output to a device, through a tunnel's door",
  against: "the same device at the main listener",
  bound: { atLeast: 0.95 },
  unit: "",
  async measure() {
    const folder = await mkdtemp("/var/tmp/sallyport-bench-tool-");
    const daemon: Daemon = await startDaemon(await tunnelConfig(folder, "while :; do sleep 1; done"));
    const clients: NativeClient[] = [];
    try {
      await startTunnel(daemon, { provider: "command" });
      const door = await tunnelUp(daemon);
      const { token } = await pairDevice(daemon, door);
      const far = await openNativeClient(socketOf(door), token);
      const near = await openNativeClient(socketOf(daemon), token);
      clients.push(far, near);
      const { id, finished } = await startJob(near, `yes 'a line of a job' | head -c ${bytes}`);
      await finished;
      const throughput = await measurePairs(
        pairs,
        () => read(far, id),
        () => read(near, id),
      );
      const latency = await measurePairs(
        pairs,
        () => roundTrip(near, id),
        () => roundTrip(far, id),
      );
      return {
        samples: throughput.ratios,
        detail: describePairs(throughput, "MB/s"),
        more: [
          {
            figure: "round trip of a small question at the main listener",
            against: "the same through a tunnel's door",
            bound: { atLeast: 0.95 },
            unit: "",
            samples: latency.ratios,
            detail: describePairs(latency, "µs"),
          },
        ],
      };
    } finally {
      for (const client of clients) client.close();
      await daemon.stop();
      await rm(folder, { recursive: true, force: true });
    }
  },
};
