import { rm } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { sessionIdOf } from "../../src/protocol/mew/ids.ts";
import type { ProductCalls } from "../children/product.ts";
import type { ReceiverCalls } from "../children/receivers.ts";
import { type Child, startChild } from "../harness/child.ts";
import { doorConfig, freeDoor, makeHome } from "../harness/daemon.ts";
import { describePairs, measurePairs, number } from "../harness/pairs.ts";
import { cpuSeconds } from "../harness/process-stats.ts";
import { call, pairDevice } from "../harness/rest.ts";
import { median, type Row } from "../harness/row.ts";

const clients = 100;
const eventBytes = 1_024;
const events = 2_000;
const pairs = 5;
/** How soon after connecting everything about the other clients has been sent. */
const settleMs = 2_000;

type Dialect = "mew" | "native";

interface DialectServer {
  readonly child: Child<Pick<ProductCalls, "flood">>;
  stop(): Promise<void>;
}

/** A daemon of its own for each dialect, since every client of a daemon hears of an event. */
async function startServer(dialect: Dialect, receivers: Child<ReceiverCalls>): Promise<DialectServer> {
  const door = await freeDoor();
  const home = await makeHome(doorConfig(door));
  const child = startChild<ProductCalls>("product", process.env.BENCH_DAEMON_NODE?.split(" "));
  async function stop(): Promise<void> {
    await child.stop();
    await rm(home, { recursive: true, force: true, maxRetries: 3 });
  }
  try {
    const daemon = await child.call("start", { home, eventBytes });
    const { token } = await pairDevice(daemon, door);
    const { agent } = await call<{ agent: string }>("POST", `${daemon.url}/api/command`, daemon.masterToken, {
      type: "agent_start",
    });
    await child.call("speakAs", { agent });
    const session_id = sessionIdOf(agent);
    await receivers.call("connect", {
      name: dialect,
      port: door.port,
      path: dialect === "mew" ? "/mew" : "/api/ws",
      token,
      count: clients,
      controlPort: daemon.controlPort,
      // Half of them in each spelling.
      ...(dialect === "native"
        ? {}
        : {
            greetings: ["AttachSession", "attach_session"].map((type) =>
              JSON.stringify({ type, session_id }),
            ),
          }),
    });
    return { child, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

export const mewFanOut: Row = {
  figure: `the same ${clients} clients in the mew dialect, both spellings: events/s until all have all`,
  against: "the native dialect",
  bound: { atLeast: 0.9 },
  unit: "",
  async measure() {
    const receivers = startChild<ReceiverCalls>("receivers");
    const servers: { [D in Dialect]?: DialectServer } = {};
    const stop = async (): Promise<void> => {
      await Promise.all([receivers.stop(), servers.mew?.stop(), servers.native?.stop()]);
    };
    async function run(name: Dialect, cpuMicros: number[]): Promise<number> {
      const server = servers[name];
      if (!server) throw new TypeError("it was not started");
      await receivers.call("arm", { name, events, timed: false });
      const cpuBefore = cpuSeconds(server.child.pid).own;
      const startedMs = performance.now();
      const done = receivers.call("finished", { name });
      await server.child.call("flood", { count: events });
      await done;
      const seconds = (performance.now() - startedMs) / 1_000;
      cpuMicros.push(((cpuSeconds(server.child.pid).own - cpuBefore) * 1e6) / (events * clients));
      return events / seconds;
    }
    try {
      servers.mew = await startServer("mew", receivers);
      servers.native = await startServer("native", receivers);
      await delay(settleMs);
      const [cpu, nativeCpu]: [number[], number[]] = [[], []];
      const measured = await measurePairs(
        pairs,
        () => run("mew", cpu),
        () => run("native", nativeCpu),
      );
      return {
        samples: measured.ratios,
        detail: `${describePairs(measured, "events/s")}; server CPU ${number(median(cpu), 1)} against ${number(median(nativeCpu), 1)} µs a frame`,
      };
    } finally {
      await stop();
    }
  },
};
