export type StartupProblem =
  /** The home cannot be trusted, or cannot be made. */
  | "home"
  /** Another daemon holds this home. */
  | "running"
  /** The port of the main door is taken by our own daemon, of this or another home of ours. */
  | "port_ours"
  /** The port is taken by something else. */
  | "port_taken"
  /** A door of the configuration, or the named host, cannot be opened. */
  | "listen"
  | "config"
  /** A secret or device file is damaged, unreadable, or missing beside the other. */
  | "secret"
  /** The disk is full, or refuses for another reason. */
  | "disk";

/** Why the daemon did not start. The message names the path or port and the next step; it goes to the terminal as it is. */
export class StartupError extends Error {
  override readonly name = "StartupError";
  readonly problem: StartupProblem;
  /** Of the daemon that runs already, where that is the problem. */
  readonly pid: number | null;
  readonly url: string | null;

  constructor(
    problem: StartupProblem,
    message: string,
    details: { pid?: number | null; url?: string | null; cause?: unknown } = {},
  ) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.problem = problem;
    this.pid = details.pid ?? null;
    this.url = details.url ?? null;
  }
}
