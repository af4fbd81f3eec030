import { type ChildProcess, spawn } from "node:child_process";
import { rm } from "node:fs/promises";
import { Agent, get } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { keepUntilExit } from "../harness/child.ts";
import { endChild, freePort, makeHome, spawnDaemon } from "../harness/daemon.ts";
import { describePairs, measurePairs, number } from "../harness/pairs.ts";
import { median, type Row } from "../harness/row.ts";

const pairs = 9;
const pollMs = 2;
const timeoutMs = 20_000;
const helloPath = fileURLToPath(new URL("children/hello.mjs", import.meta.url));
const agent = new Agent({ keepAlive: false });

export const start: Row = {
  figure: "start to first `/api/hello`",
  against: "`node` starting a Fastify hello",
  bound: { atMost: 1.5 },
  unit: "",
  async measure() {
    const homes: string[] = [];
    async function startOurs(home: string): Promise<number> {
      const port = await freePort();
      return untilHello(port, () => spawnDaemon(home, port));
    }
    async function startFresh(): Promise<number> {
      const home = await makeHome();
      homes.push(home);
      return startOurs(home);
    }
    async function startBare(): Promise<number> {
      const port = await freePort();
      return untilHello(port, () => {
        const child = spawn(process.execPath, [helloPath, String(port)], { stdio: "ignore" });
        keepUntilExit(child);
        return child;
      });
    }
    try {
      const home = await makeHome();
      homes.push(home);
      // The first start makes keys and files; it is shown on its own.
      const measured = await measurePairs(pairs, () => startOurs(home), startBare);
      const fresh: number[] = [];
      for (let run = 0; run < 3; run++) fresh.push(await startFresh());
      return {
        samples: measured.ratios,
        detail: `${describePairs(measured, "ms")}; in an empty home ${number(median(fresh))} ms`,
      };
    } finally {
      for (const home of homes) await rm(home, { recursive: true, force: true, maxRetries: 3 });
    }
  },
};

/** Milliseconds from the start of the process to its first 200. */
export async function untilHello(port: number, begin: () => ChildProcess): Promise<number> {
  const startedMs = performance.now();
  const child = begin();
  try {
    while (!(await answers(port))) {
      if (child.exitCode !== null || performance.now() - startedMs > timeoutMs)
        throw new Error("the server did not start");
      await delay(pollMs);
    }
    return performance.now() - startedMs;
  } finally {
    await endChild(child);
  }
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const request = get({ port, host: "127.0.0.1", path: "/api/hello", agent }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    request.on("error", () => resolve(false));
  });
}
