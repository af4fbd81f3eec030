import { mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { startDaemon } from "../harness/daemon.ts";
import { number } from "../harness/pairs.ts";
import { cpuSeconds, residentBytes } from "../harness/process-stats.ts";
import { median, type Row } from "../harness/row.ts";
import { startTunnel, tunnelConfig, tunnelUp } from "../harness/tunnel.ts";

const megabytes = 360;
const line =
  "2026-11-30T12:00:00Z INF GET https://sally.example/api/ws 101 connIndex=0 originService=http://127.0.0.1";
const sampleMs = 50;
const warmUpMs = 2_000;
const runs = 3;

/** An hour's worth of an access log at 100 kB/s, and more than that, in a few seconds. */
const script = `sleep 3; yes '${line}' | head -c ${megabytes}000000; while :; do sleep 1; done`;

export const tunnelChatter: Row = {
  figure: `memory while a tunnel's tool prints ${megabytes} MB at once: growth at its highest`,
  against: "while it was silent",
  bound: { atMost: 50 },
  unit: " MB",
  async measure() {
    const [samples, filesMb, cpu]: [number[], number[], number[]] = [[], [], []];
    for (let run = 0; run < runs; run++) {
      const folder = await mkdtemp("/var/tmp/sallyport-bench-tool-");
      const daemon = await startDaemon(await tunnelConfig(folder, script));
      try {
        await startTunnel(daemon, { provider: "command" });
        await tunnelUp(daemon);
        await delay(warmUpMs);
        const beforeMb = residentBytes(daemon.pid) / 1e6;
        const cpuBefore = cpuSeconds(daemon.pid).own;
        let [highestMb, highestFileMb, quietLooks, sawOutput] = [beforeMb, 0, 0, false];
        for (; quietLooks < 20; ) {
          await delay(sampleMs);
          const fileMb = await outputMb(daemon.home);
          sawOutput ||= fileMb > 1;
          quietLooks = sawOutput && fileMb < 1 ? quietLooks + 1 : 0;
          highestMb = Math.max(highestMb, residentBytes(daemon.pid) / 1e6);
          highestFileMb = Math.max(highestFileMb, fileMb);
        }
        samples.push(highestMb - beforeMb);
        filesMb.push(highestFileMb);
        cpu.push(cpuSeconds(daemon.pid).own - cpuBefore);
      } finally {
        await daemon.stop();
        await rm(folder, { recursive: true, force: true });
      }
    }
    return {
      samples,
      detail: `its file held ${number(median(filesMb))} MB at most and is empty afterwards; CPU of the daemon ${number(median(cpu), 2)} s`,
    };
  },
};

async function outputMb(home: string): Promise<number> {
  const folder = join(home, "tunnel");
  let bytes = 0;
  for (const name of await readdir(folder))
    bytes += (await stat(join(folder, name)).catch(() => null))?.size ?? 0;
  return bytes / 1e6;
}
