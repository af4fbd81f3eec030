import { rm } from "node:fs/promises";
import { type Daemon, freePort, makeHome, spawnDaemon, startDaemon } from "../harness/daemon.ts";
import { describePairs, measurePairs } from "../harness/pairs.ts";
import { call } from "../harness/rest.ts";
import type { Row } from "../harness/row.ts";
import { writeTranscripts } from "../harness/transcripts.ts";
import { untilHello } from "./start.ts";

const many = 10_000;
const few = 100;
const listPairs = 50;
const listsAPair = 10;
const startPairs = 11;

export const sessions: Row = {
  figure: `\`GET /api/sessions?limit=50\` with ${many} transcripts, warm`,
  against: `with ${few}`,
  bound: { atMost: 1.5 },
  unit: "",
  async measure() {
    const [big, small] = [await startDaemon(), await startDaemon()];
    try {
      await writeTranscripts(big.home, many);
      await writeTranscripts(small.home, few);
      await list(big);
      await list(small);
      const measured = await measurePairs(
        listPairs,
        () => list(big),
        () => list(small),
      );
      return {
        samples: measured.ratios,
        detail: describePairs(measured, "ms"),
        more: [await measureStart()],
      };
    } finally {
      await Promise.all([big.stop(), small.stop()]);
    }
  },
};

async function measureStart() {
  const homes = [await makeHome(), await makeHome()] as const;
  try {
    await writeTranscripts(homes[0], many);
    const begin = async (home: string): Promise<number> => {
      const port = await freePort();
      return untilHello(port, () => spawnDaemon(home, port));
    };
    for (const home of homes) await begin(home);
    const measured = await measurePairs(
      startPairs,
      () => begin(homes[0]),
      () => begin(homes[1]),
    );
    return {
      figure: `start to first \`/api/hello\` with ${many} transcripts`,
      against: "without",
      bound: { atMost: 1.2 },
      unit: "",
      samples: measured.ratios,
      detail: describePairs(measured, "ms"),
    };
  } finally {
    for (const home of homes) await rm(home, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** Milliseconds of one list, as a mean of several. */
async function list({ url, masterToken }: Daemon): Promise<number> {
  const startedMs = performance.now();
  for (let run = 0; run < listsAPair; run += 1) {
    const { sessions: rows } = await call<{ sessions: unknown[] }>(
      "GET",
      `${url}/api/sessions?limit=50`,
      masterToken,
    );
    if (rows.length !== 50) throw new Error(`${rows.length} sessions instead of 50`);
  }
  return (performance.now() - startedMs) / listsAPair;
}
