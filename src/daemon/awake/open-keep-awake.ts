import type { ChangeLog } from "../../engine/change-log.ts";
import type { Engine } from "../../engine/engine.ts";
import { jobEnvironment } from "../../engine/jobs/check-spec.ts";
import { findProgram } from "../../lib/find-program.ts";
import type { Log } from "../../lib/log.ts";
import type { Change } from "../../protocol/changes.ts";
import { holdInhibitor } from "./hold-inhibitor.ts";
import { inhibitorCommands } from "./inhibitor-command.ts";
import { createKeepAwake, type KeepAwake } from "./keep-awake.ts";

export interface OpenKeepAwakeOptions {
  readonly engine: Pick<Engine, "counts">;
  readonly changeLog: ChangeLog;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: Log;
}

const holdMs = 5_000;
const graceMs = 1_000;
const lingerMs = 2_000;
const retryMs = 60_000;

/** Keeping awake with this platform's tool and this daemon's work. */
export function openKeepAwake({ engine, changeLog, env, log }: OpenKeepAwakeOptions): KeepAwake {
  const toolEnvironment = jobEnvironment(env);
  const keepAwake = createKeepAwake({
    find: () => inhibitorCommands(process.platform, (name) => findProgram(name, env.PATH)),
    hold: (command) => holdInhibitor(command, { env: toolEnvironment, holdMs, graceMs }),
    isBusy() {
      const counts = engine.counts();
      return counts.running_agents + counts.running_jobs > 0;
    },
    announce: (awake) => changeLog.append({ type: "awake", ...awake }),
    log,
    lingerMs,
    retryMs,
  });
  const stop = changeLog.subscribe(({ change }) => {
    if (tellsOfWork(change)) keepAwake.look();
  });
  return {
    ...keepAwake,
    async close() {
      stop();
      await keepAwake.close();
    },
  };
}

/** True for a change with which a turn or a job began or ended. */
function tellsOfWork(change: Change): boolean {
  if (change.type === "event")
    return change.event.type === "turn_started" || change.event.type === "turn_finished";
  return change.type === "job_started" || change.type === "job_finished" || change.type === "agent_updated";
}
