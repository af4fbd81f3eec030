import { setTimeout as delay } from "node:timers/promises";
import { createLinuxProcessTable } from "./linux-process-table.ts";
import { type ProcessTable, restAfterScan, shareScans } from "./process-table.ts";
import { createPsProcessTable } from "./ps-process-table.ts";

/** The process table of `platform`; null where jobs are not supported. */
export function createProcessTable(platform: NodeJS.Platform): ProcessTable | null {
  if (platform === "win32") return null;
  const table = platform === "linux" ? createLinuxProcessTable() : createPsProcessTable(platform);
  return { ...table, scan: shareScans(table.scan, (tookMs) => delay(restAfterScan(tookMs))) };
}
