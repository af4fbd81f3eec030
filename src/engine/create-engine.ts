import { homedir } from "node:os";
import { join } from "node:path";
import { SallyportError } from "../errors.ts";
import { makePrivateFolder } from "../lib/atomic-file.ts";
import type { StateFile } from "../lib/state-file.ts";
import type { ChangeBody } from "../protocol/changes.ts";
import { createAgents } from "./agents/agents.ts";
import type { LiveAgent } from "./agents/live-agent.ts";
import type { ChangeLog } from "./change-log.ts";
import { createCommands } from "./create-commands.ts";
import { createLibrary } from "./create-library.ts";
import { createPlaces, createProjectParts } from "./create-places.ts";
import type { Engine } from "./engine.ts";
import { createEngineView } from "./engine-view.ts";
import { createTabFolders } from "./files/tab-folders.ts";
import type { Jobs } from "./jobs/jobs.ts";
import { jobsInPlace } from "./jobs/jobs-in-place.ts";
import { openReceiptStore } from "./receipts/receipt-store.ts";
import { createPermissions } from "./requests/permissions.ts";
import { createQuestions } from "./requests/questions.ts";
import type { JudgeCall, RuleSet } from "./rules/rules.ts";
import { splitTrailingBackground } from "./rules/trailing-background.ts";
import { createModelLearner, createRuntimeChooser, knownRuntime } from "./runtimes/choose-runtime.ts";
import { liveRegistry, noRuntimeSource, type RuntimeSource } from "./runtimes/registry.ts";
import type { Runtime } from "./runtimes/runtime.ts";
import { createShellRuntime } from "./runtimes/shell.ts";
import { createSessions } from "./sessions/create-sessions.ts";
import { createSessionFlags } from "./sessions/session-flags.ts";
import { shutDown } from "./shut-down.ts";
import { createAnnouncer } from "./transcripts/announcer.ts";
import { createEventSequence } from "./transcripts/event-sequence.ts";
import { createSessionReader } from "./transcripts/session-reader.ts";
import { recoverAgent, turnWasAccepted } from "./turns/recover-agent.ts";
import { openWorkspaceStore } from "./workspaces/open-store.ts";
import { createProjectDefaults } from "./workspaces/project-defaults.ts";
import { createNewTabRuntime, createTabRuntime } from "./workspaces/tab-runtime.ts";
import { createTrustedFolders } from "./workspaces/trusted-folders.ts";
import type { TabDoc } from "./workspaces/workspace-doc.ts";
import { createWorkspaces } from "./workspaces/workspaces.ts";

export interface EngineOptions {
  /** Home of the daemon, with `workspaces/`, `sessions/` and `receipts.jsonl`. */
  readonly home: string;
  readonly changeLog: ChangeLog;
  readonly jobs: Jobs;
  readonly judgeCall: JudgeCall;
  /** The rules of the configuration as they are now. */
  readonly rules: () => RuleSet;
  readonly state: StateFile;
  /** Folder of the first tab of a fresh daemon. */
  readonly startFolder: string;
  /** Devices without `admin` open tabs below this only; read at each use. */
  readonly browseRoot: () => string;
  readonly now: () => number;
  /** A sentence for the log: what was skipped, left alone or could not be written. */
  readonly report: (problem: string) => void;
  /** Runtimes beside `shell`. */
  readonly runtimes?: readonly Runtime[];
  /** Runtimes that come and go. */
  readonly agentRuntimes?: RuntimeSource;
  /** What runs in new tabs, when nobody says; default: `shell`. */
  readonly tabRuntime?: () => string;
  /** What `~` stands for; default: the user's home. */
  readonly userHome?: string;
}

/**
 * Opens the engine on a home. Transcripts are not read, whatever their number. Throws `StateFileError` for a damaged
 * section of the state file, and the error of the file system when the folders of the home cannot be used.
 */
export async function createEngine(options: EngineOptions): Promise<Engine> {
  const { changeLog, state, now, report, judgeCall, rules } = options;
  const sessionsFolder = join(options.home, "sessions");
  const workspacesFolder = join(options.home, "workspaces");
  await makePrivateFolder(sessionsFolder);
  await makePrivateFolder(workspacesFolder);

  const tabRuntime = options.tabRuntime ?? (() => "shell");
  const append = (change: ChangeBody): void => {
    changeLog.append(change);
  };
  let closing: Promise<void> | null = null;
  const assertOpen = (): void => {
    if (closing) throw new SallyportError("overloaded", "The daemon is stopping; try again when it is back.");
  };
  const userHome = options.userHome ?? homedir();
  const { bounds, resolveCwd, checkFolder } = createTabFolders({
    home: options.home,
    userHome,
    browseRoot: options.browseRoot,
  });

  const sequence = createEventSequence(state);
  const announcer = createAnnouncer(sequence);
  const trusted = createTrustedFolders(state);
  const projectDefaults = createProjectDefaults(state);
  const store = await openWorkspaceStore({
    folder: workspacesFolder,
    firstFolders: [options.startFolder, options.browseRoot()],
    resolveCwd,
    trusted,
    tabRuntime,
    now,
    report,
  });

  const jobs = jobsInPlace(options.jobs, (tab) => store.findTab(tab)?.workspace.id ?? null);
  const permissions = createPermissions({ now });
  const questions = createQuestions({ now });
  const agentRuntimes = options.agentRuntimes ?? noRuntimeSource;
  const runtimes = liveRegistry(
    [
      createShellRuntime({ jobs, now, splitTrailingBackground, addAgent: agentRuntimes.addAgent }),
      ...(options.runtimes ?? []),
    ],
    agentRuntimes,
  );
  const { projects, prepare, findTrust } = createProjectParts({
    store,
    bounds,
    browseRoot: options.browseRoot,
    isTrusted: trusted.has,
    rules,
    sessionRules: (agent) => agents.peek(agent)?.sessionRules ?? [],
    contextTokens: (agent) => library.contextTokens(agent),
    onProjectChange: (tab) => {
      if (agents.isLoaded(tab)) agents.announceTab(tab);
    },
    now,
    report,
  });
  const loadProject = (tab: TabDoc): Promise<void> => projects.load(tab);
  const agents = createAgents({
    store,
    sessionsFolder,
    announcer,
    now,
    append,
    isTrusted: trusted.has,
    projects,
    runtimes,
    isWaiting: (turn) =>
      permissions.list().some((request) => request.turn === turn) ||
      questions.list().some((question) => question.turn === turn),
  });
  const workspaces = createWorkspaces({ store, state, now, report, onUsed: agents.announceWorkspace });

  const runtimeFor = createRuntimeChooser({
    runtimes,
    isTrusted: trusted.has,
    explain: agentRuntimes.explain,
  });

  const learnModel = createModelLearner({ runtimes, isTrusted: trusted.has });

  async function recover(agent: LiveAgent): Promise<void> {
    agent.recovery ??= recoverAgent(agent, { sessionsFolder, sequence, report }).catch((error: unknown) => {
      agent.recovery = null;
      throw error;
    });
    await agent.recovery;
  }

  const receipts = await openReceiptStore({
    path: join(options.home, "receipts.jsonl"),
    now,
    report,
    wasAccepted: ({ agent, turn, seq }) => turnWasAccepted(sessionsFolder, agent, turn, seq),
  });
  const commands = createCommands({
    workspaces,
    agents,
    jobs,
    permissions,
    questions,
    receipts,
    runtimes,
    runtimeFor,
    learnModel,
    trusted,
    chooseTabRuntime: createNewTabRuntime({
      defaults: projectDefaults,
      fallback: tabRuntime,
      nameOf: (name) => knownRuntime(runtimes, name, agentRuntimes.explain).name,
      mayRun(name, cwd) {
        const runtime = runtimes.get(name);
        return runtime !== undefined && (!runtime.needsTrust || trusted.has(cwd));
      },
    }),
    prepare,
    findTrust,
    loadProject,
    recover,
    judgeCall,
    rules,
    announcer,
    sequence,
    resolveCwd,
    checkFolder,
    assertOpen,
    sessionsFolder,
    now,
    append,
    report,
  });
  const { prompts, runner, tabCommands, jobCommands } = commands;
  const view = createEngineView({ changeLog, workspaces, agents, permissions, questions, jobs });
  const flags = createSessionFlags(state);
  const library = createLibrary({
    home: options.home,
    userHome,
    browseRoot: options.browseRoot,
    store,
    agents,
    changeLog,
    runtimes,
    tabRuntime,
    addAgent: agentRuntimes.addAgent,
    isTrusted: trusted.has,
    flags,
    assertOpen,
    append,
    now,
    report,
  });
  const sessions = createSessions({
    workspaces,
    agents,
    library,
    flags,
    receipts,
    prompts,
    runner,
    runtimes,
    runtimeFor,
    sequence,
    recover,
    bounds,
    browseRoot: options.browseRoot,
    assertOpen,
    append,
    report,
  });
  const places = createPlaces({
    workspaces,
    agents,
    tabCommands,
    setTabRuntime: createTabRuntime({
      workspaces,
      agents,
      runtimeFor,
      defaults: projectDefaults,
      isClosing: tabCommands.isClosing,
      assertOpen,
    }),
    prompt: prompts.prompt,
    view: (workspace) => view.snapshot(workspace).workspace,
    resolveCwd,
    startFolder: options.startFolder,
    endRequestsOfTab: jobCommands.endRequestsOfTab,
    jobsOf: (tab) => jobs.list().filter((job) => job.tab === tab),
    assertOpen,
    now,
    append,
    report,
  });
  const stopJobs = jobs.onChange((kind, job) => {
    append({ type: kind === "started" ? "job_started" : "job_finished", job });
  });

  return {
    ...view,
    library,
    places,
    sessions,
    ...commands.engine,
    readSession: createSessionReader({ store, agents, announcer, recover, sessionsFolder, report }),
    close() {
      closing ??= Promise.resolve().then(async () => {
        await shutDown({ agents, receipts, store, state, runtimes, report });
        await library.close();
        stopJobs();
      });
      return closing;
    },
  };
}
