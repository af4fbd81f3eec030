import { rm } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import type { BareSocketCalls } from "../children/bare-sockets.ts";
import type { ProductCalls } from "../children/product.ts";
import type { ReceiverCalls } from "../children/receivers.ts";
import { type Child, startChild } from "./child.ts";
import { doorConfig, freeDoor, makeHome } from "./daemon.ts";
import { pairDevice } from "./rest.ts";

/** What both can be asked for. */
type Sending = Pick<ProductCalls, "flood" | "drip">;

export interface TwoServers {
  readonly ours: Child<Sending>;
  readonly bare: Child<Sending>;
  /** Its groups of clients are called `ours` and `bare`. */
  readonly receivers: Child<ReceiverCalls>;
  stop(): Promise<void>;
}

/** How soon after connecting the last change about the number of clients has been sent. */
const settleMs = 1_000;

/** The daemon and a bare `ws` server, each with `clients` sockets of one process, ours by a forwarder's door. */
export async function startTwoServers(clients: number, eventBytes: number): Promise<TwoServers> {
  const door = await freeDoor();
  const home = await makeHome(doorConfig(door));
  const ours = startChild<ProductCalls>("product", process.env.BENCH_DAEMON_NODE?.split(" "));
  const bare = startChild<BareSocketCalls>("bare-sockets");
  const receivers = startChild<ReceiverCalls>("receivers");
  async function stop(): Promise<void> {
    await Promise.all([ours.stop(), bare.stop(), receivers.stop()]);
    await rm(home, { recursive: true, force: true, maxRetries: 3 });
  }
  try {
    const daemon = await ours.call("start", { home, eventBytes });
    const { token } = await pairDevice(daemon, door);
    const other = await bare.call("start", { eventBytes });
    await receivers.call("connect", {
      name: "ours",
      port: door.port,
      path: "/api/ws",
      token,
      count: clients,
      controlPort: daemon.controlPort,
    });
    await receivers.call("connect", {
      name: "bare",
      port: other.port,
      path: "/",
      token: null,
      count: clients,
      controlPort: other.controlPort,
    });
    await delay(settleMs);
    return { ours, bare, receivers, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
