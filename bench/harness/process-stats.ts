import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

const ticksPerSecond = Number(execFileSync("getconf", ["CLK_TCK"], { encoding: "utf8" }));

/** Seconds of CPU that a process has used, and those of the children that it has waited for (Linux). */
export function cpuSeconds(pid: number): { readonly own: number; readonly children: number } {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  // The name in parentheses may hold spaces; field 3 comes after it.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const seconds = (field: number): number => Number(fields[field - 3]) / ticksPerSecond;
  return { own: seconds(14) + seconds(15), children: seconds(16) + seconds(17) };
}

/** Resident bytes of a process (Linux). */
export function residentBytes(pid: number): number {
  const found = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"));
  return Number(found?.[1] ?? Number.NaN) * 1024;
}
