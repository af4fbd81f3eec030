import { startDaemon } from "../harness/daemon.ts";
import { openNativeClient, startJob } from "../harness/native-client.ts";
import { number } from "../harness/pairs.ts";
import { cpuSeconds } from "../harness/process-stats.ts";
import { median, type Row } from "../harness/row.ts";

/** About 60 MB a second for some three seconds. */
const command = "i=0; while [ $i -lt 200 ]; do yes flood | head -c 1000000; sleep 0.015; i=$((i+1)); done";
const runs = 3;

export const watching: Row = {
  figure: "the daemon's CPU while one client follows a flooding job",
  against: "nobody following",
  bound: null,
  unit: " %",
  async measure() {
    const daemon = await startDaemon();
    const client = await openNativeClient(`${daemon.url.replace("http", "ws")}/api/ws`, daemon.masterToken);
    async function run(follow: boolean): Promise<number> {
      const { id, finished } = await startJob(client, command);
      if (follow) await client.ask({ type: "job_follow", job: id, on: true });
      const cpuBefore = cpuSeconds(daemon.pid).own;
      const startedMs = performance.now();
      await finished;
      return ((cpuSeconds(daemon.pid).own - cpuBefore) / ((performance.now() - startedMs) / 1_000)) * 100;
    }
    try {
      await run(true);
      const [followed, alone]: [number[], number[]] = [[], []];
      for (let each = 0; each < runs; each++) {
        followed.push(await run(true));
        alone.push(await run(false));
      }
      return { samples: followed, detail: `${number(median(alone), 2)} % with nobody following` };
    } finally {
      client.close();
      await daemon.stop();
    }
  },
};
