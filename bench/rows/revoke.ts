import type { ReceiverCalls } from "../children/receivers.ts";
import { machineMicros } from "../harness/broadcast.ts";
import { startChild } from "../harness/child.ts";
import { doorConfig, freeDoor, startDaemon } from "../harness/daemon.ts";
import { call, pairDevice } from "../harness/rest.ts";
import type { Row } from "../harness/row.ts";

const sockets = 1_000;
const runs = 3;

export const revoke: Row = {
  figure: "revoke with 1,000 sockets open: the last one closed after",
  against: "",
  bound: { atMost: 1_000 },
  unit: " ms",
  async measure() {
    const door = await freeDoor();
    const daemon = await startDaemon(doorConfig(door));
    const receivers = startChild<ReceiverCalls>("receivers");
    try {
      const samples: number[] = [];
      for (let run = 0; run < runs; run++) {
        const name = `run ${run}`;
        const { id, token } = await pairDevice(daemon, door);
        await receivers.call("connect", {
          name,
          port: door.port,
          path: "/api/ws",
          token,
          count: sockets,
          controlPort: null,
        });
        const closed = receivers.call("closed", { name });
        const sentMicros = machineMicros();
        await call("DELETE", `${daemon.url}/api/devices/${id}`, daemon.masterToken);
        const { lastClosedMicros, codes } = await closed;
        if (codes["4401"] !== sockets) throw new Error(`closed with ${JSON.stringify(codes)}`);
        samples.push((lastClosedMicros - sentMicros) / 1_000);
      }
      return { samples, detail: "all with 4401" };
    } finally {
      await receivers.stop();
      await daemon.stop();
    }
  },
};
