import { randomBytes } from "node:crypto";
import { newId } from "../../src/lib/ids.ts";
import type { LoadCalls } from "../children/load.ts";
import { startChild } from "../harness/child.ts";
import { doorConfig, freeDoor, startDaemon } from "../harness/daemon.ts";
import { number } from "../harness/pairs.ts";
import { cpuSeconds } from "../harness/process-stats.ts";
import { pairDevice } from "../harness/rest.ts";
import { median, type Row } from "../harness/row.ts";

const connections = 20;
const durationMs = 2_000;
const rounds = 5;
/** As many as an attacker would need not to be answered from a memory of the last one. */
const distinct = 500;

export const forgedTokens: Row = {
  figure: "forged device tokens refused/s, unknown device",
  against: "valid ones accepted/s",
  bound: { atLeast: 1 },
  unit: "",
  async measure() {
    const door = await freeDoor();
    const daemon = await startDaemon(doorConfig(door));
    const loader = startChild<LoadCalls>("load");
    try {
      const { id, token } = await pairDevice(daemon, door);
      const kinds = {
        valid: { tokens: [token], accepted: true, perSecond: [] as number[], cpuMicros: [] as number[] },
        unknown: {
          tokens: Array.from({ length: distinct }, () => forge(token, newId())),
          accepted: false,
          perSecond: [] as number[],
          cpuMicros: [] as number[],
        },
        badSignature: {
          tokens: Array.from({ length: distinct }, () => forge(token, id)),
          accepted: false,
          perSecond: [] as number[],
          cpuMicros: [] as number[],
        },
      };
      for (let round = -1; round < rounds; round++)
        for (const kind of Object.values(kinds)) {
          const cpuBefore = cpuSeconds(daemon.pid).own;
          const { perSecond, total, byStatus } = await loader.call("run", {
            port: door.port,
            path: "/api/daemon",
            tokens: kind.tokens,
            connections,
            durationMs,
          });
          const accepted = byStatus["200"] ?? 0;
          if (accepted !== (kind.accepted ? total : 0))
            throw new Error(`unexpected answers: ${JSON.stringify(byStatus)}`);
          if (round < 0) continue;
          kind.perSecond.push(perSecond);
          kind.cpuMicros.push(((cpuSeconds(daemon.pid).own - cpuBefore) * 1e6) / total);
        }
      const { valid, unknown, badSignature } = kinds;
      const against = (kind: typeof unknown) => ({
        samples: kind.perSecond.map((each, at) => each / (valid.perSecond[at] ?? Number.NaN)),
        detail: `${number(median(kind.perSecond))} against ${number(median(valid.perSecond))} req/s; server CPU ${number(median(kind.cpuMicros), 1)} against ${number(median(valid.cpuMicros), 1)} µs`,
      });
      return {
        ...against(unknown),
        more: [
          {
            figure: "forged device tokens refused/s, known device, bad signature",
            against: "valid ones accepted/s",
            bound: { atLeast: 0.6 },
            unit: "",
            ...against(badSignature),
          },
        ],
      };
    } finally {
      await daemon.stop();
      await loader.stop();
    }
  },
};

/** The right form and the daemon's own header, but signed by nobody. */
function forge(token: string, device: string): string {
  const [header] = token.split(".", 1);
  const claims = { sub: device, jti: randomBytes(32).toString("base64url"), iat: 1_796_000_000 };
  const payload = Buffer.from(JSON.stringify(claims)).toString("base64url");
  return `${header}.${payload}.${randomBytes(32).toString("base64url")}`;
}
