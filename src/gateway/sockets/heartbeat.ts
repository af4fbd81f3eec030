export interface HeartbeatSigns {
  /** Any frame of the client since the last beat. */
  readonly heard: boolean;
  /** What waited for it has become less since the last beat. */
  readonly drained: boolean;
  /** We have not been reading since the last beat, for a reason of ours: silence proves nothing. */
  readonly deaf: boolean;
}

/**
 * How many beats in a row this client has missed. One that answers pings, sends anything, or takes what waits for it is
 * alive; the caller ends it at `limits.missedPings`.
 */
export function missedBeats(missedBefore: number, signs: HeartbeatSigns): number {
  return signs.heard || signs.drained || signs.deaf ? 0 : missedBefore + 1;
}
