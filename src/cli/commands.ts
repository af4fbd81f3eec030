import { agentsCommand } from "./agents/agents.ts";
import { attachCommand } from "./attach/attach.ts";
import type { CommandSpec } from "./command.ts";
import { completionCommand } from "./completion.ts";
import { configCommand } from "./config.ts";
import { connectCommand } from "./connect.ts";
import { daemonCommand } from "./daemon.ts";
import { devicesCommand } from "./devices.ts";
import { doctorCommand } from "./doctor.ts";
import { jobsCommand } from "./jobs.ts";
import { pairCommand } from "./pair.ts";
import { promptCommand } from "./prompt.ts";
import { remoteCommand } from "./remote.ts";
import { runCommand } from "./run.ts";
import { serviceCommand } from "./service.ts";
import { sessionsCommand } from "./sessions.ts";
import { tunnelCommand } from "./tunnel.ts";
import { upCommand } from "./up.ts";
import { webCommand } from "./web.ts";

const completed: readonly CommandSpec[] = [
  upCommand,
  daemonCommand,
  pairCommand,
  devicesCommand,
  remoteCommand,
  tunnelCommand,
  runCommand,
  promptCommand,
  attachCommand,
  agentsCommand,
  jobsCommand,
  sessionsCommand,
  webCommand,
  connectCommand,
  configCommand,
  serviceCommand,
  doctorCommand,
];

/** Every command, in the order of the help. */
export const commands: readonly CommandSpec[] = [...completed, completionCommand(completed)];
