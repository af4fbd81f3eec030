import type { ChangeBody } from "../protocol/changes.ts";
import type { TrustedNow } from "../protocol/objects.ts";
import { ownerKey } from "./actor.ts";
import { type AgentCommandsOptions, createAgentCommands } from "./agents/agent-commands.ts";
import { createSessionCommands } from "./agents/session-commands.ts";
import type { Engine } from "./engine.ts";
import { createJobCommands, type JobCommands, type JobCommandsOptions } from "./job-commands.ts";
import type { ReceiptStore } from "./receipts/receipt-store.ts";
import type { Questions } from "./requests/questions.ts";
import type { Runtime } from "./runtimes/runtime.ts";
import type { PreparePrompt } from "./slash/prepare-prompt.ts";
import { beginCompaction } from "./turns/compact.ts";
import { createPrompts, type Prompts } from "./turns/prompts.ts";
import { createTurnRunner, type TurnRunner } from "./turns/turn-runner.ts";
import { createTabCommands, type TabCommands, type TabCommandsOptions } from "./workspaces/tab-commands.ts";

export interface CommandsOptions
  extends AgentCommandsOptions,
    Omit<JobCommandsOptions, keyof AgentCommandsOptions> {
  readonly questions: Questions;
  readonly receipts: ReceiptStore;
  readonly runtimes: ReadonlyMap<string, Runtime>;
  readonly trusted: TabCommandsOptions["trusted"];
  readonly chooseTabRuntime: TabCommandsOptions["chooseTabRuntime"];
  readonly prepare: PreparePrompt;
  readonly findTrust: (cwd: string) => Promise<TrustedNow>;
  /** The real path of a folder that is fit for a tab; `bounded` for those who stay below the browse root. */
  readonly resolveCwd: (rawCwd: string, bounded: boolean) => Promise<string>;
  readonly append: (change: ChangeBody) => void;
}

type CommandName =
  | "prompt"
  | "receipt"
  | "cancel"
  | "approve"
  | "answer"
  | "setMode"
  | "startAgent"
  | "openAgent"
  | "activateAgent"
  | "setModel"
  | "compact"
  | "closeAgent"
  | "createTab"
  | "closeTab"
  | "startJob"
  | "listJobs"
  | "readJob"
  | "followJob"
  | "killJob";

export interface Commands {
  /** What clients ask of the engine, one method a command. */
  readonly engine: Pick<Engine, CommandName>;
  readonly prompts: Prompts;
  readonly runner: TurnRunner;
  readonly tabCommands: TabCommands;
  readonly jobCommands: JobCommands;
}

/** Puts together what is done to tabs, agents, turns and jobs: each builds on those before it. */
export function createCommands(options: CommandsOptions): Commands {
  const { jobs, permissions, questions, receipts, assertOpen } = options;
  const agentCommands = createAgentCommands(options);
  const { takeBack } = agentCommands;
  const runner = createTurnRunner({ ...options, store: options.workspaces.store, takeBack });
  const prompts = createPrompts({ ...options, runner, takeBack });
  const jobCommands = createJobCommands(options);
  const tabCommands = createTabCommands({
    ...options,
    agentCommands,
    endRequestsOfTab: jobCommands.endRequestsOfTab,
  });
  const sessionCommands = createSessionCommands({
    ...options,
    createTab: async (cwd, actor) => (await tabCommands.create({ type: "tab_create", cwd }, actor)).id,
  });

  return {
    prompts,
    runner,
    tabCommands,
    jobCommands,
    engine: {
      prompt: (command, actor) => prompts.prompt(command, actor),
      receipt: (requestId, actor) => receipts.view(ownerKey(actor), requestId),
      cancel: (agentId, actor) => agentCommands.cancel(agentId, actor),
      async approve(command, actor) {
        assertOpen();
        actor.assertLive();
        await permissions.approve(command, actor);
      },
      async answer(command, actor) {
        assertOpen();
        actor.assertLive();
        await questions.answer(command, actor);
      },
      setMode: (command, actor) => tabCommands.setMode(command, actor),
      startAgent: (command, actor) => agentCommands.start(command, actor),
      openAgent: (command, actor) => sessionCommands.open(command, actor),
      activateAgent: (command, actor) => sessionCommands.activate(command, actor),
      setModel: (command, actor) => sessionCommands.setModel(command, actor),
      compact: (command, actor) => beginCompaction({ ...options, runner }, command, actor),
      closeAgent: (agentId, actor) => agentCommands.close(agentId, actor),
      createTab: (command, actor) => tabCommands.create(command, actor),
      closeTab: (tabId, actor) => tabCommands.close(tabId, actor),
      startJob: (command, actor) => jobCommands.start(command, actor),
      listJobs: () => jobs.list(),
      async readJob(read) {
        jobCommands.known(read.job);
        return jobs.read(read);
      },
      followJob(jobId, more) {
        jobCommands.known(jobId);
        return jobs.follow(jobId, more);
      },
      killJob: (jobId, actor) => jobCommands.kill(jobId, actor),
    },
  };
}
