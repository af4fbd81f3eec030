import { SallyportError } from "../errors.ts";
import { isJobId } from "../lib/ids.ts";
import type { ChangeBody } from "../protocol/changes.ts";
import type { CommandOf } from "../protocol/commands.ts";
import type { AgentEventBody } from "../protocol/events.ts";
import type { Job } from "../protocol/objects.ts";
import { type Actor, ownerKey } from "./actor.ts";
import { orRefuse } from "./disk-refusal.ts";
import type { JobStartResult } from "./engine.ts";
import { engineLimits } from "./engine-limits.ts";
import type { Jobs } from "./jobs/jobs.ts";
import { noJob } from "./not-found.ts";
import type { Permissions } from "./requests/permissions.ts";
import type { JudgeCall, RuleSet } from "./rules/rules.ts";
import { checkCommandLine } from "./runtimes/shell.ts";
import type { Announcer } from "./transcripts/announcer.ts";
import type { EventSequence } from "./transcripts/event-sequence.ts";
import type { RecordOptions } from "./transcripts/transcript.ts";
import type { TabDoc, WorkspaceDoc } from "./workspaces/workspace-doc.ts";
import type { Workspaces } from "./workspaces/workspaces.ts";

export interface JobCommands {
  start(command: CommandOf<"job_start">, actor: Actor): Promise<JobStartResult>;
  kill(jobId: string, actor: Actor): Promise<void>;
  /** The job, or `not_found`; nothing but a job id ever reaches a path. */
  known(jobId: string): Job;
  endRequestsOfTab(tab: string): Promise<void>;
}

export interface JobCommandsOptions {
  readonly workspaces: Workspaces;
  readonly jobs: Jobs;
  readonly permissions: Permissions;
  readonly judgeCall: JudgeCall;
  readonly rules: () => RuleSet;
  readonly announcer: Announcer;
  readonly sequence: EventSequence;
  readonly now: () => number;
  readonly assertOpen: () => void;
  /** Throws when the tab's folder is gone, or is another one now. */
  readonly checkFolder: (cwd: string) => Promise<void>;
  readonly append: (change: ChangeBody) => void;
  readonly report: (problem: string) => void;
}

interface JobPlace {
  readonly workspace: WorkspaceDoc;
  readonly tab: TabDoc;
}

/** Jobs that clients start. Whoever may approve starts one at once; a device without `approve` asks for it. */
export function createJobCommands(options: JobCommandsOptions): JobCommands {
  const { workspaces, jobs, permissions } = options;
  /** Ends the requests of one tab; a request of a tab has no turn. */
  const ending = new Map<string, { readonly tab: string; readonly owner: string; end(): Promise<void> }>();

  /** What no agent asked for has no transcript: it is announced only. */
  function announcing({ workspace, tab }: JobPlace) {
    return async (bodies: readonly AgentEventBody[], record: RecordOptions): Promise<void> => {
      record.beforeWrite?.();
      for (const [index, body] of bodies.entries()) {
        const slot = options.announcer.take();
        await new Promise<void>((resolve) => {
          slot.announce(() => {
            if (index === 0) record.onAnnounce?.();
            const at = new Date(options.now()).toISOString();
            const event = { agent: null, seq: slot.seq, at, ...body };
            options.append({ type: "event", workspace: workspace.id, tab: tab.id, event });
            resolve();
          });
        });
      }
    };
  }

  function startNow(place: JobPlace, command: string, beforeSpawn: () => void): Promise<Job> {
    return orRefuse(
      jobs.start(
        { command, cwd: place.tab.cwd, workspace: place.workspace.id, tab: place.tab.id, agent: null },
        beforeSpawn,
      ),
    );
  }

  async function ask(place: JobPlace, command: string, actor: Actor): Promise<string> {
    const owner = ownerKey(actor);
    const own = [...ending.values()].filter((each) => each.owner === owner).length;
    if (own >= engineLimits.jobRequestsPerDevice)
      throw new SallyportError("conflict", "This device has enough jobs waiting for an answer.", {
        reason: "busy",
      });
    await orRefuse(options.sequence.ensure());
    actor.assertLive();
    const controller = new AbortController();
    const stopListening = actor.onEnd?.(() => controller.abort());
    return new Promise<string>((resolve, reject) => {
      let requestId: string | null = null;
      const settled = permissions
        .ask(
          {
            workspace: place.workspace.id,
            tab: place.tab.id,
            agent: null,
            turn: null,
            callId: null,
            tool: "bash",
            subject: command,
            input: { command },
            cwd: place.tab.cwd,
            allowSession: null,
          },
          {
            record: announcing(place),
            signal: controller.signal,
            onChange: () => undefined,
            onOpen(id) {
              requestId = id;
              ending.set(id, {
                tab: place.tab.id,
                owner,
                async end() {
                  controller.abort();
                  await settled;
                },
              });
              resolve(id);
            },
          },
        )
        .finally(() => {
          stopListening?.();
          if (requestId !== null) ending.delete(requestId);
        });
      settled
        .then(async ({ answer }) => {
          if (answer === "allow") await startAllowed(place, command, actor);
        })
        .catch((error: unknown) => {
          // Before it was open this is the answer to the asker; later it is told by `startAllowed`.
          reject(error);
        });
    });
  }

  /** Starts what was asked for earlier: the asker must still be who he was, and the deny rules may have changed. */
  async function startAllowed(place: JobPlace, command: string, asker: Actor): Promise<void> {
    try {
      refuseDenied(place, command);
      await options.checkFolder(place.tab.cwd);
      await startNow(place, command, () => {
        options.assertOpen();
        asker.assertLive();
        if (!asker.has("drive"))
          throw new SallyportError("scope_missing", "The device that asked may not drive any more.");
      });
    } catch (error) {
      const message = error instanceof SallyportError ? error.message : "its log says why";
      options.report(`an allowed job was not started: ${String(error)}`);
      options.append({ type: "notice", message: `The job was not started: ${message}` });
    }
  }

  function refuseDenied(place: JobPlace, command: string): void {
    const verdict = options.judgeCall(
      { tool: "bash", subject: command, cwd: place.tab.cwd },
      place.tab.mode,
      options.rules(),
      [],
    );
    if (verdict.verdict === "deny")
      throw new SallyportError("rule_denied", `The rule ${verdict.by} denies this command.`);
  }

  function known(jobId: string): Job {
    const job = isJobId(jobId) ? jobs.get(jobId) : null;
    if (!job) throw noJob();
    return job;
  }

  return {
    async start(command, actor) {
      options.assertOpen();
      actor.assertLive();
      const place = workspaces.tabOrActive(command.tab);
      checkCommandLine(command.command, "command");
      refuseDenied(place, command.command);
      workspaces.touch(place.workspace.id);
      if (actor.by.device !== null && !actor.has("approve"))
        return { request_id: await ask(place, command.command, actor) };
      await options.checkFolder(place.tab.cwd);
      const job = await startNow(place, command.command, () => {
        options.assertOpen();
        actor.assertLive();
      });
      return { job };
    },
    async kill(jobId, actor) {
      known(jobId);
      actor.assertLive();
      await orRefuse(jobs.kill(jobId, () => actor.assertLive()));
    },
    known,
    async endRequestsOfTab(tab) {
      const own = [...ending.values()].filter((each) => each.tab === tab);
      await Promise.all(own.map((each) => each.end()));
    },
  };
}
