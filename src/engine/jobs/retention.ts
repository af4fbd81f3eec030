export interface EndedLog {
  readonly id: string;
  readonly endedMs: number;
  readonly bytes: number;
}
export interface RetentionBounds {
  readonly maxTotalBytes: number;
  readonly keepDays: number;
}

const dayMs = 24 * 60 * 60 * 1000;

/**
 * Which ended jobs to remove: those over `keepDays` old, then the oldest until all fit into `maxTotalBytes`. The newest is
 * kept even if it alone is too large: somebody waits for it. `otherBytes` is what cannot be removed (running jobs).
 */
export function chooseRemovals(
  ended: readonly EndedLog[],
  otherBytes: number,
  bounds: RetentionBounds,
  nowMs: number,
): string[] {
  const oldestFirst = [...ended].sort((a, b) => a.endedMs - b.endedMs);
  const newest = oldestFirst.at(-1);
  let totalBytes = oldestFirst.reduce((sum, log) => sum + log.bytes, otherBytes);
  const removed: string[] = [];
  for (const log of oldestFirst) {
    const old = nowMs - log.endedMs > bounds.keepDays * dayMs;
    const crowded = totalBytes > bounds.maxTotalBytes && log !== newest;
    if (!old && !crowded) continue;
    totalBytes -= log.bytes;
    removed.push(log.id);
  }
  return removed;
}
