/** WebSocket close codes of the native dialect and what a client does about each (docs/protocol.md, "Errors and close codes"). */
export const closeCodes = {
  /** Shutdown or restart, after a `shutdown` message: reconnect with back-off. */
  goingAway: 1001,
  /** The frame was over the limit: do not send it again. */
  tooLarge: 1009,
  /** Twenty malformed frames in a minute: stop and report. */
  malformed: 4400,
  /** Device revoked or token expired: forget the token. */
  revoked: 4401,
  /** Exposure was switched off: stop and say so. */
  exposureOff: 4403,
  /** The client did not read: reconnect with `since`. */
  notReading: 4408,
  /** A flood of commands: wait `retry_after`, which the close reason carries. */
  flood: 4429,
} as const;
