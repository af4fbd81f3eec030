import { spawn } from "node:child_process";
import { once } from "node:events";
import { open, rm } from "node:fs/promises";
import { join } from "node:path";
import { startDaemon } from "../harness/daemon.ts";
import { openNativeClient, startJob } from "../harness/native-client.ts";
import { describePairs, measurePairs, number } from "../harness/pairs.ts";
import { cpuSeconds } from "../harness/process-stats.ts";
import type { Row } from "../harness/row.ts";

/** One process that does nothing but write: its speed is the disk cache's. */
const command = "head -c 1000000000 /dev/zero";
const pairs = 5;

export const jobUnwatched: Row = {
  figure: "a job printing 1 GB, nobody watching: wall time",
  against: "the same command redirected to a file",
  bound: { atMost: 1.05 },
  unit: "",
  async measure() {
    const daemon = await startDaemon();
    const client = await openNativeClient(`${daemon.url.replace("http", "ws")}/api/ws`, daemon.masterToken);
    const cpuPercents: number[] = [];
    async function asJob(): Promise<number> {
      const cpuBefore = cpuSeconds(daemon.pid).own;
      const startedMs = performance.now();
      const job = await startJob(client, command);
      const { state, exit_code } = await job.finished;
      const ms = performance.now() - startedMs;
      cpuPercents.push(((cpuSeconds(daemon.pid).own - cpuBefore) / (ms / 1_000)) * 100);
      if (state !== "exited" || exit_code !== 0) throw new Error(`the job ended: ${state} ${exit_code}`);
      await rm(join(daemon.home, "jobs", `${job.id}.log`));
      return ms;
    }
    async function redirected(): Promise<number> {
      const path = join(daemon.home, "redirected");
      const startedMs = performance.now();
      const file = await open(path, "ax", 0o600);
      const child = spawn("/bin/sh", ["-c", command], { stdio: ["ignore", file.fd, file.fd] });
      const [code] = await once(child, "exit");
      const ms = performance.now() - startedMs;
      await file.close();
      if (code !== 0) throw new Error(`the command ended with ${code}`);
      await rm(path);
      return ms;
    }
    try {
      const measured = await measurePairs(pairs, asJob, redirected);
      const cpu = cpuPercents.slice(1);
      return {
        samples: measured.ratios,
        detail: describePairs(measured, "ms"),
        more: [
          {
            figure: "the daemon's CPU meanwhile, of the wall time",
            against: "",
            bound: { atMost: 2 },
            unit: " %",
            samples: cpu,
            detail: `mean ${number(cpu.reduce((sum, each) => sum + each, 0) / cpu.length, 2)} % (the clock of /proc ticks every 10 ms)`,
          },
        ],
      };
    } finally {
      client.close();
      await daemon.stop();
    }
  },
};
