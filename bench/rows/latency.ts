import { describePairs, measurePairs } from "../harness/pairs.ts";
import { quantile, type Row } from "../harness/row.ts";
import { startTwoServers } from "../harness/two-servers.ts";

const clients = 50;
const eventBytes = 1_024;
const events = 600;
const intervalMs = 3;
const pairs = 7;

export const latency: Row = {
  figure: `p99 latency engine event -> ${clients} clients`,
  against: "the same over bare `ws`",
  bound: { atMost: 1.3 },
  unit: "",
  async measure() {
    const servers = await startTwoServers(clients, eventBytes);
    const { receivers } = servers;
    async function run(name: "ours" | "bare"): Promise<number> {
      await receivers.call("arm", { name, events, timed: true });
      const done = receivers.call("finished", { name });
      const sentMicros = await servers[name].call("drip", { count: events, intervalMs });
      await done;
      const delays = await receivers.call("delays", { name, sentMicros });
      return quantile(delays, 0.99) / 1_000;
    }
    try {
      const measured = await measurePairs(
        pairs,
        () => run("ours"),
        () => run("bare"),
      );
      return { samples: measured.ratios, detail: describePairs(measured, "ms", 2) };
    } finally {
      await servers.stop();
    }
  },
};
