import type { DoorKeeper } from "./door-keeper.ts";

/** What a daemon is started with: flags of the command line over the configuration. */
export interface StartDaemonOptions {
  /** Absolute path. */
  readonly home: string;
  readonly version: string;
  /** Null: as configured (7700). 0 picks a free one. */
  readonly port: number | null;
  /** What the main door binds when remote access is on; null: as kept from before, else as configured, else all. */
  readonly host: string | null;
  /** Switch remote access on. It stays on until it is switched off or the daemon is stopped by a request. */
  readonly remote: boolean;
  /** Absolute path of a file with the master token; null: `SALLYPORT_TOKEN`, else the home's. */
  readonly tokenFile: string | null;
  /** The folder of the first tab of a fresh home. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** What SIGHUP means: the terminal is gone, so end; or, for one that has none, read the settings again. */
  readonly hangUp: "end" | "reload";
}

/** Why a daemon ends. `stopped`: a request asked for it; exposure is forgotten, unless it is a restart. */
export type EndReason = "signal" | "stopped" | "restart" | "idle" | "fault";

export interface RunningDaemon {
  readonly home: string;
  /** `http://127.0.0.1:7700` */
  readonly url: string;
  readonly port: number;
  readonly masterToken: string;
  /** For the person at the terminal: what was asked for and could not be done, with the next step. */
  readonly warnings: readonly string[];
  /** Opens a door for a forwarder that this program starts. */
  readonly openDoor: DoorKeeper["openDoor"];
  /** Resolves when it has ended, whoever ended it. Never rejects. */
  readonly ended: Promise<EndReason>;
  /** Ends it: clients are told, turns end, files are written; jobs go on, exposure is kept. At most 5 s. */
  stop(): Promise<void>;
}
