import { spawn } from "node:child_process";
import { once } from "node:events";
import { open, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { startDaemon } from "../harness/daemon.ts";
import { openNativeClient, startJob } from "../harness/native-client.ts";
import { describePairs, measurePairs, number } from "../harness/pairs.ts";
import { cpuSeconds } from "../harness/process-stats.ts";
import { median, type Row } from "../harness/row.ts";

const bytes = 1_000_000_000;
const command = `yes '2026-11-30T12:00:00Z INFO handler: request 4711 done in 12 ms' | head -c ${bytes}`;
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
    const [jobSeconds, bareSeconds]: [number[], number[]] = [[], []];
    async function asJob(): Promise<number> {
      const cpuBefore = cpuSeconds(daemon.pid);
      const startedMs = performance.now();
      const job = await startJob(client, command);
      const { state, exit_code } = await job.finished;
      const ms = performance.now() - startedMs;
      const cpu = cpuSeconds(daemon.pid);
      cpuPercents.push(((cpu.own - cpuBefore.own) / (ms / 1_000)) * 100);
      jobSeconds.push(cpu.children - cpuBefore.children);
      if (state !== "exited" || exit_code !== 0) throw new Error(`the job ended: ${state} ${exit_code}`);
      await removeWhole(join(daemon.home, "jobs", `${job.id}.log`));
      return ms;
    }
    async function redirected(): Promise<number> {
      const path = join(daemon.home, "redirected");
      const cpuBefore = cpuSeconds(process.pid).children;
      const startedMs = performance.now();
      const file = await open(path, "ax", 0o600);
      // In a session of its own like the job: the scheduler may share out time by session.
      const child = spawn("/bin/sh", ["-c", command], {
        detached: true,
        stdio: ["ignore", file.fd, file.fd],
      });
      const [code] = await once(child, "exit");
      const ms = performance.now() - startedMs;
      await file.close();
      bareSeconds.push(cpuSeconds(process.pid).children - cpuBefore);
      if (code !== 0) throw new Error(`the command ended with ${code}`);
      await removeWhole(path);
      return ms;
    }
    try {
      const measured = await measurePairs(pairs, asJob, redirected);
      const cpu = cpuPercents.slice(1);
      return {
        samples: measured.ratios,
        detail: `${describePairs(measured, "ms")}; CPU of the command ${number(median(jobSeconds), 2)} against ${number(median(bareSeconds), 2)} s`,
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

/** Removes a log that has all that was printed. */
async function removeWhole(path: string): Promise<void> {
  const { size } = await stat(path);
  if (size !== bytes) throw new Error(`${size} bytes were printed`);
  await rm(path);
}
