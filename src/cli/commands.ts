import type { CommandSpec } from "./command.ts";
import { daemonCommand } from "./daemon.ts";
import { devicesCommand } from "./devices.ts";
import { doctorCommand } from "./doctor.ts";
import { jobsCommand } from "./jobs.ts";
import { pairCommand } from "./pair.ts";
import { promptCommand } from "./prompt.ts";
import { remoteCommand } from "./remote.ts";
import { runCommand } from "./run.ts";
import { upCommand } from "./up.ts";

/** Every command, in the order of the help. */
export const commands: readonly CommandSpec[] = [
  upCommand,
  daemonCommand,
  pairCommand,
  devicesCommand,
  remoteCommand,
  runCommand,
  promptCommand,
  jobsCommand,
  doctorCommand,
];
