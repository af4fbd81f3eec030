import autocannon from "autocannon";
import type { BareFastifyCalls } from "../children/bare-fastify.ts";
import { startChild } from "../harness/child.ts";
import { doorConfig, freeDoor, startDaemon } from "../harness/daemon.ts";
import { describePairs, measurePairs, number } from "../harness/pairs.ts";
import { cpuSeconds } from "../harness/process-stats.ts";
import { call, pairDevice } from "../harness/rest.ts";
import { median, type Row } from "../harness/row.ts";

const path = "/api/daemon";
const connections = 20;
const seconds = 3;
const pairs = 5;

/** Requests a second, and the CPU that each cost the server. */
async function load(url: string, pid: number, token: string | null, cpuMicros: number[]): Promise<number> {
  const before = cpuSeconds(pid).own;
  const result = await autocannon({
    url: `${url}${path}`,
    connections,
    duration: seconds,
    ...(token === null ? {} : { headers: { authorization: `Bearer ${token}` } }),
  });
  const { total } = result.requests;
  if (result.errors > 0 || (result.statusCodeStats["200"]?.count ?? 0) < total)
    throw new Error(`not every request was answered: ${JSON.stringify(result.statusCodeStats)}`);
  cpuMicros.push(((cpuSeconds(pid).own - before) * 1e6) / total);
  return total / result.duration;
}

export const gate: Row = {
  figure: "requests/s of an authenticated remote `GET /api/daemon`, whole gate",
  against: "the same Fastify with one bare JSON route",
  bound: { atLeast: 0.8 },
  unit: "",
  async measure() {
    const door = await freeDoor();
    const daemon = await startDaemon(doorConfig(door));
    const bare = startChild<BareFastifyCalls>("bare-fastify");
    try {
      const { token } = await pairDevice(daemon, door);
      const body = await call<unknown>("GET", `${door.url}${path}`, token);
      const bareUrl = `http://127.0.0.1:${await bare.call("start", { path, body })}`;
      const [cpu, bareCpu]: [number[], number[]] = [[], []];
      const measured = await measurePairs(
        pairs,
        () => load(door.url, daemon.pid, token, cpu),
        () => load(bareUrl, bare.pid, null, bareCpu),
      );
      return {
        samples: measured.ratios,
        detail: `${describePairs(measured, "req/s")}; server CPU ${number(median(cpu), 1)} against ${number(median(bareCpu), 1)} µs a request`,
      };
    } finally {
      await daemon.stop();
      await bare.stop();
    }
  },
};
