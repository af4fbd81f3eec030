import { type Outcome, printFigure, writeResults } from "./harness/report.ts";
import type { Row } from "./harness/row.ts";
import { agentChunk } from "./rows/agent-chunk.ts";
import { fanOut } from "./rows/fan-out.ts";
import { forgedTokens } from "./rows/forged-tokens.ts";
import { gate } from "./rows/gate.ts";
import { jobUnwatched } from "./rows/job-unwatched.ts";
import { jobWatched } from "./rows/job-watched.ts";
import { latency } from "./rows/latency.ts";
import { mewFanOut } from "./rows/mew-fan-out.ts";
import { pageFlood } from "./rows/page-flood.ts";
import { pageLoad } from "./rows/page-load.ts";
import { reconnect } from "./rows/reconnect.ts";
import { revoke } from "./rows/revoke.ts";
import { sessions } from "./rows/sessions.ts";
import { slowReader } from "./rows/slow-reader.ts";
import { start } from "./rows/start.ts";
import { tunnelChatter } from "./rows/tunnel-chatter.ts";
import { tunnelDoor } from "./rows/tunnel-door.ts";
import { tunnelRedial } from "./rows/tunnel-redial.ts";
import { watching } from "./rows/watching.ts";

const rows: Readonly<Record<string, Row>> = {
  gate,
  "fan-out": fanOut,
  "mew-fan-out": mewFanOut,
  latency,
  "job-unwatched": jobUnwatched,
  "job-watched": jobWatched,
  "slow-reader": slowReader,
  start,
  sessions,
  reconnect,
  "forged-tokens": forgedTokens,
  revoke,
  watching,
  "agent-chunk": agentChunk,
  "tunnel-door": tunnelDoor,
  "tunnel-redial": tunnelRedial,
  "tunnel-chatter": tunnelChatter,
  "page-load": pageLoad,
  "page-flood": pageFlood,
};

const names = process.argv.slice(2);
const unknown = names.filter((name) => !Object.hasOwn(rows, name));
if (unknown.length > 0) {
  process.stderr.write(`bench: no row ${unknown.join(", ")}. There are: ${Object.keys(rows).join(", ")}\n`);
  process.exit(2);
}
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => process.exit(1));

const startedMs = performance.now();
const outcomes: Outcome[] = [];
for (const [name, row] of Object.entries(rows)) {
  if (names.length > 0 && !names.includes(name)) continue;
  try {
    const { more = [], ...measured } = await row.measure();
    outcomes.push({ name, ...row, ...measured }, ...more.map((figure) => ({ name, ...figure })));
  } catch (error) {
    process.stderr.write(`bench: ${name}: ${error instanceof Error ? error.stack : error}\n`);
    outcomes.push({ name, ...row, samples: [], detail: "could not be measured" });
  }
  for (const outcome of outcomes.filter((each) => each.name === name)) printFigure(outcome);
}
process.stdout.write(`${Math.round((performance.now() - startedMs) / 1_000)} s\n`);
// A part would overwrite the figures of the whole.
if (names.length === 0) await writeResults("bench/RESULTS.md", outcomes);
process.exit(0);
