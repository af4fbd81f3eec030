/** All in milliseconds. */
export interface TunnelTiming {
  /** A tool that does not name an address in this time is started anew; one that waits for a person is not. */
  readonly addressMs: number;
  /** An address that does not lead here in this time is given up. */
  readonly proofMs: number;
  /** As `proofMs`, while the tool waits for a person. */
  readonly personMs: number;
  /** A tool that says what trying again will not help, and goes on, is given this long to be wrong. */
  readonly hopelessMs: number;
  /** A tool that tells when it is connected is given this long to do so before its address is probed all the same. */
  readonly readyMs: number;
  /** Between two probes before it is up. */
  readonly probeEveryMs: number;
  /** Between two probes while it is up. */
  readonly healthEveryMs: number;
  /** Further probes after one that failed while it was up. */
  readonly retryAfterMs: readonly number[];
  /** After this long in one piece a failure counts as the first again. */
  readonly steadyMs: number;
  /** Of one probe. */
  readonly probeTimeoutMs: number;
}

export const tunnelTiming: TunnelTiming = {
  addressMs: 60_000,
  proofMs: 90_000,
  personMs: 600_000,
  hopelessMs: 10_000,
  readyMs: 15_000,
  probeEveryMs: 1_000,
  healthEveryMs: 60_000,
  retryAfterMs: [2_000, 5_000],
  steadyMs: 10_000,
  probeTimeoutMs: 10_000,
};
