import { execFileSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { cpus, loadavg, release, totalmem } from "node:os";
import { number } from "./pairs.ts";
import { type Bound, type Figure, keeps, summarize } from "./row.ts";

export interface Outcome extends Figure {
  readonly name: string;
  /** Empty when it could not be measured. */
  readonly samples: readonly number[];
  readonly detail: string;
}

export function printFigure(outcome: Outcome): void {
  const { name, figure, against, bound } = outcome;
  process.stdout.write(
    `${name}: ${figure}\n  against ${against}\n  must be ${boundText(bound, outcome.unit)}, is ${spread(outcome)}: ${verdict(outcome)}\n  ${outcome.detail}\n`,
  );
}

export async function writeResults(path: string, outcomes: readonly Outcome[]): Promise<void> {
  const lines = outcomes.map((outcome) =>
    [
      outcome.name,
      outcome.figure,
      outcome.against,
      boundText(outcome.bound, outcome.unit),
      spread(outcome),
      verdict(outcome),
      outcome.detail,
    ].join(" | "),
  );
  const [cpu] = cpus();
  const text = `# What it costs

Written by \`npm run bench\`; \`npm run bench -- NAME…\` runs only those rows and writes nothing. Every ratio is the median of interleaved pairs (A B A B …) measured in the same run, servers, clients and daemons as processes of their own on loopback; min–max in parentheses.

- ${new Date().toISOString().slice(0, 16).replace("T", " ")} UTC, commit ${commit()}
- Node ${process.version}, ${process.platform} ${release()} ${process.arch}
- ${cpu?.model.trim() ?? "unknown CPU"}, ${cpus().length} cores, ${number(totalmem() / 2 ** 30)} GiB; load average at the end ${loadavg()
    .map((load) => number(load, 1))
    .join(" ")}

| row | figure | against | must be | median (min–max) | | in numbers |
|---|---|---|---|---|---|---|
${lines.map((line) => `| ${line} |`).join("\n")}
`;
  await writeFile(path, text);
}

function boundText(bound: Bound, unit: string): string {
  if (bound === null) return "(shown only)";
  return "atLeast" in bound ? `>= ${bound.atLeast}${unit}` : `<= ${bound.atMost}${unit}`;
}

function spread({ samples, unit }: Outcome): string {
  if (samples.length === 0) return "?";
  const { median, min, max } = summarize(samples);
  const digits = unit === "" || unit === " %" ? 2 : 0;
  const [middle, least, most] = [median, min, max].map((value) => number(value, digits));
  return `${middle}${unit} (${least}–${most})`;
}

function verdict({ samples, bound }: Outcome): string {
  if (samples.length === 0) return "not ok";
  if (bound === null) return "–";
  return keeps(bound, summarize(samples).median) ? "ok" : "not ok";
}

function commit(): string {
  try {
    return execFileSync("git", ["rev-parse", "--short", "HEAD"], { encoding: "utf8" }).trim();
  } catch {
    // An unpacked package has no history.
    return "unknown";
  }
}
