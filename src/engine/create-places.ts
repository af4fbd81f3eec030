import { SallyportError } from "../errors.ts";
import type { ChangeBody } from "../protocol/changes.ts";
import type { CommandOf } from "../protocol/commands.ts";
import type { Job, TrustedNow, Workspace } from "../protocol/objects.ts";
import type { Actor } from "./actor.ts";
import type { Agents } from "./agents/agents.ts";
import { createAttachmentDesk } from "./attachments/attachment-desk.ts";
import type { FolderLimits } from "./files/resolve-folder.ts";
import { contextReport } from "./projects/context-report.ts";
import { findRepository } from "./projects/find-repository.ts";
import { findInstructionFiles } from "./projects/instruction-files.ts";
import type { ProjectBounds } from "./projects/project-bounds.ts";
import { createProjects, type Projects } from "./projects/projects.ts";
import { findTrustFindings } from "./projects/trust-findings.ts";
import type { PromptReceipt } from "./receipts/prompt-receipt.ts";
import type { RuleSet } from "./rules/rules.ts";
import { createPromptPreparer, type PreparePrompt } from "./slash/prepare-prompt.ts";
import { createLaunch } from "./workspaces/launch.ts";
import type { Places } from "./workspaces/places.ts";
import type { TabCommands } from "./workspaces/tab-commands.ts";
import { createTabPlaces } from "./workspaces/tab-places.ts";
import { createWorkspaceCommands } from "./workspaces/workspace-commands.ts";
import type { WorkspaceStore } from "./workspaces/workspace-store.ts";
import type { Workspaces } from "./workspaces/workspaces.ts";

export interface ProjectPartsOptions {
  readonly store: WorkspaceStore;
  /** Bounds of what is read; `null` for no browse root. */
  readonly bounds: (browseRoot: string | null) => FolderLimits;
  readonly browseRoot: () => string;
  readonly isTrusted: (cwd: string) => boolean;
  readonly rules: () => RuleSet;
  /** Rules that `allow_session` remembered for an agent. */
  readonly sessionRules: (agent: string) => readonly string[];
  readonly contextTokens: (agent: string) => Promise<number | null>;
  readonly onProjectChange: (tab: string) => void;
  readonly now: () => number;
  readonly report: (problem: string) => void;
}

export interface ProjectParts {
  readonly projects: Projects;
  readonly prepare: PreparePrompt;
  readonly findTrust: (cwd: string) => Promise<TrustedNow>;
}

/** What is read of projects and attachments. Nothing is read before a tab is used. */
export function createProjectParts(options: ProjectPartsOptions): ProjectParts {
  const { store } = options;
  const bounds = (): ProjectBounds => ({ ...options.bounds(null), browseRoot: options.browseRoot() });
  const projects = createProjects({
    bounds,
    isTrusted: options.isTrusted,
    onChange: options.onProjectChange,
    now: options.now,
    report: options.report,
  });

  async function describeContext(agentId: string): Promise<string> {
    const place = store.findAgent(agentId);
    if (!place) throw new SallyportError("not_found", "This agent was closed.");
    const { tab, agent } = place;
    const root = await findRepository(tab.cwd, bounds());
    return contextReport({
      cwd: tab.cwd,
      trusted: options.isTrusted(tab.cwd),
      mode: tab.mode,
      runtime: agent.runtime,
      model: agent.model,
      project: projects.get(tab.id),
      rules: options.rules(),
      sessionRules: options.sessionRules(agentId),
      instructions: await findInstructionFiles(tab.cwd, root, bounds()),
      contextTokens: await options.contextTokens(agentId),
    });
  }

  return {
    projects,
    prepare: createPromptPreparer({
      projects,
      desk: createAttachmentDesk(),
      bounds: (bounded) => options.bounds(bounded ? options.browseRoot() : null),
      describeContext,
    }),
    findTrust: (cwd) =>
      findTrustFindings(cwd, bounds()).catch((error: Error) => {
        options.report(`what a trusted folder brings along could not be read: ${error.message}`);
        return { hooks: [], mcp_servers: [], commands: [], incomplete: true };
      }),
  };
}

export interface PlacesOptions {
  readonly workspaces: Workspaces;
  readonly agents: Agents;
  readonly tabCommands: TabCommands;
  readonly setTabRuntime: Places["setTabRuntime"];
  readonly prompt: (command: CommandOf<"prompt">, actor: Actor) => Promise<PromptReceipt>;
  readonly view: (workspace: string) => Workspace;
  readonly resolveCwd: (rawCwd: string, bounded: boolean) => Promise<string>;
  readonly startFolder: string;
  readonly endRequestsOfTab: (tab: string) => Promise<void>;
  readonly jobsOf: (tab: string) => readonly Job[];
  readonly assertOpen: () => void;
  readonly now: () => number;
  readonly append: (change: ChangeBody) => void;
  readonly report: (problem: string) => void;
}

export function createPlaces(options: PlacesOptions): Places {
  const { tabCommands } = options;
  const workspaceCommands = createWorkspaceCommands(options);
  const tabPlaces = createTabPlaces({ ...options, isClosing: tabCommands.isClosing });
  return {
    ...workspaceCommands,
    ...tabPlaces,
    openTab: (command, actor) => tabCommands.open(command, actor),
    setTabRuntime: options.setTabRuntime,
    launch: createLaunch({ ...options, workspaceCommands, tabPlaces }),
  };
}
