import { describePairs, measurePairs, number } from "../harness/pairs.ts";
import { cpuSeconds } from "../harness/process-stats.ts";
import { median, type Row } from "../harness/row.ts";
import { startTwoServers } from "../harness/two-servers.ts";

const clients = 100;
const eventBytes = 1_024;
const events = 2_000;
const pairs = 5;

export const fanOut: Row = {
  figure: `WebSocket fan-out, ${clients} clients, 1 KB events: events/s until all have all`,
  against: "bare `ws` sending the same bytes",
  bound: { atLeast: 0.9 },
  unit: "",
  async measure() {
    const servers = await startTwoServers(clients, eventBytes);
    const { receivers } = servers;
    async function run(name: "ours" | "bare", cpuMicros: number[]): Promise<number> {
      const server = servers[name];
      await receivers.call("arm", { name, events, timed: false });
      const cpuBefore = cpuSeconds(server.pid).own;
      const startedMs = performance.now();
      const done = receivers.call("finished", { name });
      await server.call("flood", { count: events });
      await done;
      const seconds = (performance.now() - startedMs) / 1_000;
      cpuMicros.push(((cpuSeconds(server.pid).own - cpuBefore) * 1e6) / (events * clients));
      return events / seconds;
    }
    try {
      const [cpu, bareCpu]: [number[], number[]] = [[], []];
      const measured = await measurePairs(
        pairs,
        () => run("ours", cpu),
        () => run("bare", bareCpu),
      );
      return {
        samples: measured.ratios,
        detail: `${describePairs(measured, "events/s")}; server CPU ${number(median(cpu), 1)} against ${number(median(bareCpu), 1)} µs a frame`,
      };
    } finally {
      await servers.stop();
    }
  },
};
