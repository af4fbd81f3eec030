import autocannon from "autocannon";
import type { BareFastifyCalls } from "../children/bare-fastify.ts";
import type { LoadCalls } from "../children/load.ts";
import { type Child, startChild } from "../harness/child.ts";
import { doorConfig, freeDoor, startDaemon } from "../harness/daemon.ts";
import { describePairs, measurePairs, number } from "../harness/pairs.ts";
import { cpuSeconds } from "../harness/process-stats.ts";
import { call, pairDevice } from "../harness/rest.ts";
import { median, type Row } from "../harness/row.ts";

const path = "/api/daemon";
const connections = 20;
const durationMs = 3_000;
const pairs = 5;

interface Server {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  readonly token: string | null;
  /** Of each run, microseconds a request. */
  readonly cpuMicros: number[];
}

/** Requests a second by autocannon, which is about as busy as the server. */
async function byAutocannon({ url, pid, token, cpuMicros }: Server): Promise<number> {
  const before = cpuSeconds(pid).own;
  const { requests, duration, errors, statusCodeStats } = await autocannon({
    url: `${url}${path}`,
    connections,
    duration: durationMs / 1_000,
    ...(token === null ? {} : { headers: { authorization: `Bearer ${token}` } }),
  });
  const { total } = requests;
  if (errors > 0 || (statusCodeStats["200"]?.count ?? 0) < total)
    throw new Error(`not all were answered: ${JSON.stringify(statusCodeStats)}`);
  cpuMicros.push(((cpuSeconds(pid).own - before) * 1e6) / total);
  return total / duration;
}

/** Requests a second by a client that waits for the server most of the time. */
async function byCheapClient(loader: Child<LoadCalls>, { port, token }: Server): Promise<number> {
  const tokens = token === null ? null : [token];
  const { perSecond, total, byStatus } = await loader.call("run", {
    port,
    path,
    tokens,
    connections,
    durationMs,
  });
  if (byStatus["200"] !== total) throw new Error(`not all were answered: ${JSON.stringify(byStatus)}`);
  return perSecond;
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
    const loader = startChild<LoadCalls>("load");
    try {
      const { token } = await pairDevice(daemon, door);
      const body = await call<unknown>("GET", `${door.url}${path}`, token);
      const barePort = await bare.call("start", { path, body });
      const ours: Server = { url: door.url, port: door.port, pid: daemon.pid, token, cpuMicros: [] };
      const theirs: Server = {
        url: `http://127.0.0.1:${barePort}`,
        port: barePort,
        pid: bare.pid,
        token: null,
        cpuMicros: [],
      };
      const measured = await measurePairs(
        pairs,
        () => byAutocannon(ours),
        () => byAutocannon(theirs),
      );
      const saturated = await measurePairs(
        3,
        () => byCheapClient(loader, ours),
        () => byCheapClient(loader, theirs),
      );
      return {
        samples: measured.ratios,
        detail: `${describePairs(measured, "req/s")}; server CPU ${number(median(ours.cpuMicros), 1)} against ${number(median(theirs.cpuMicros), 1)} µs a request`,
        more: [
          {
            figure: "the same with a client that costs next to nothing, so that only the server is measured",
            against: "the same",
            bound: null,
            unit: "",
            samples: saturated.ratios,
            detail: describePairs(saturated, "req/s"),
          },
        ],
      };
    } finally {
      await daemon.stop();
      await bare.stop();
      await loader.stop();
    }
  },
};
