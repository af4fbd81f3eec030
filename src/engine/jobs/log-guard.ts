export interface LogBounds {
  readonly maxLogBytes: number;
  readonly freeDiskFloorBytes: number;
}

/** Why a job must be ended for the sake of the disk; null while it may go on. `freeBytes` is null when it is not known. */
export function logProblem(
  log: { readonly bytes: number; readonly grew: boolean },
  freeBytes: number | null,
  bounds: LogBounds,
): string | null {
  if (log.bytes >= bounds.maxLogBytes) return `its log reached ${count(bounds.maxLogBytes)} bytes`;
  // A job that writes nothing takes no room: ending it would help nobody.
  if (log.grew && freeBytes !== null && freeBytes < bounds.freeDiskFloorBytes)
    return `the disk has only ${count(freeBytes)} bytes left (${count(bounds.freeDiskFloorBytes)} are kept free)`;
  return null;
}

/** When to look again: 4 times a second, sooner for a log that would be over the bound by then. */
export function nextLookMs(
  log: { readonly bytes: number; readonly grownBytes: number; readonly sinceMs: number },
  maxLogBytes: number,
): number {
  const leastMs = 10;
  const mostMs = 250;
  if (log.grownBytes <= 0) return mostMs;
  const untilFullMs = ((maxLogBytes - log.bytes) / log.grownBytes) * Math.max(1, log.sinceMs);
  return Math.min(mostMs, Math.max(leastMs, untilFullMs / 2));
}

/** 1234567 as `1,234,567`. */
export function count(value: number): string {
  return value.toLocaleString("en-US");
}
