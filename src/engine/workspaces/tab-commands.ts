import { basename } from "node:path";
import type { ChangeBody } from "../../protocol/changes.ts";
import type { CommandOf } from "../../protocol/commands.ts";
import { limits } from "../../protocol/limits.ts";
import type { Tab, TrustedNow } from "../../protocol/objects.ts";
import type { Actor } from "../actor.ts";
import type { AgentCommands } from "../agents/agent-commands.ts";
import type { Agents } from "../agents/agents.ts";
import { noTab, noWorkspace } from "../not-found.ts";
import { cleanLabel } from "../visible-text.ts";
import { checkedName } from "./checked-name.ts";
import type { OpenedTab } from "./places.ts";
import type { ProjectDefault } from "./project-defaults.ts";
import type { TrustedFolders } from "./trusted-folders.ts";
import type { TabDoc } from "./workspace-doc.ts";
import { newTabDoc, type Workspaces } from "./workspaces.ts";

export interface TabCommands {
  create(command: CommandOf<"tab_create">, actor: Actor): Promise<Tab>;
  /** The same, and tells what the folder brings along if it became trusted by it. */
  open(command: CommandOf<"tab_create">, actor: Actor): Promise<OpenedTab>;
  /** Trusts the folder if whoever opens a tab on it may; null unless it became trusted just now. */
  trust(cwd: string, actor: Actor): Promise<TrustedNow | null>;
  isClosing(tab: string): boolean;
  close(tabId: string, actor: Actor): Promise<void>;
  setMode(command: CommandOf<"mode">, actor: Actor): Promise<Tab>;
}

export interface TabCommandsOptions {
  readonly workspaces: Workspaces;
  readonly agents: Agents;
  readonly agentCommands: AgentCommands;
  readonly trusted: TrustedFolders;
  /** The real path of a folder that is fit for a tab; `bounded` for those who stay below the browse root. */
  readonly resolveCwd: (rawCwd: string, bounded: boolean) => Promise<string>;
  /** What a new tab on a folder runs: what was asked for, or the default. Throws `invalid_field`. */
  readonly chooseTabRuntime: (name: string | undefined, cwd: string) => ProjectDefault;
  readonly assertOpen: () => void;
  readonly loadProject: (tab: TabDoc) => Promise<void>;
  /** What a folder brings along that can run something. */
  readonly findTrust: (cwd: string) => Promise<TrustedNow>;
  /** Ends job requests that wait for an answer in this tab. */
  readonly endRequestsOfTab: (tab: string) => Promise<void>;
  readonly append: (change: ChangeBody) => void;
}

/** As agent commands: checked again at the commit point. */
export function createTabCommands(options: TabCommandsOptions): TabCommands {
  const { workspaces, agents, append } = options;
  const { store } = workspaces;
  const closing = new Set<string>();

  function rowOf(tabId: string): Tab {
    const row = agents.tabRow(tabId);
    if (!row) throw noTab();
    return row;
  }

  async function trust(cwd: string, actor: Actor): Promise<TrustedNow | null> {
    // Whoever opens a tab and may approve what runs in it says that he knows the folder.
    const may = actor.by.device === null || actor.has("approve");
    const isNew =
      may &&
      (await options.trusted.add(cwd, () => {
        options.assertOpen();
        actor.assertLive();
      }));
    if (!isNew) return null;
    for (const tab of store.list().flatMap((doc) => doc.tabs)) {
      if (tab.cwd !== cwd) continue;
      // Its commands count from now on.
      if (agents.isLoaded(tab.id)) await options.loadProject(tab);
      agents.announceTab(tab.id);
    }
    return options.findTrust(cwd);
  }

  async function open(command: CommandOf<"tab_create">, actor: Actor): Promise<OpenedTab> {
    options.assertOpen();
    actor.assertLive();
    const workspace = command.workspace === undefined ? workspaces.last() : store.get(command.workspace);
    if (!workspace) throw noWorkspace();
    const name = command.name === undefined ? null : checkedName(command.name);
    const cwd = await options.resolveCwd(command.cwd, !actor.has("admin"));
    const commit = (): void => {
      options.assertOpen();
      actor.assertLive();
    };
    // Refused before the folder becomes trusted by it; a default depends on that trust.
    if (command.runtime !== undefined) options.chooseTabRuntime(command.runtime, cwd);
    const trusted_now = await trust(cwd, actor);
    const tab = newTabDoc({
      cwd,
      name: name ?? tabNameOf(cwd),
      mode: command.mode ?? "ask",
      ...options.chooseTabRuntime(command.runtime, cwd),
    });
    await workspaces.addTab(workspace.id, tab, commit);
    append({ type: "tab_created", tab: rowOf(tab.id) });
    agents.announceWorkspace(workspace.id);
    workspaces.touch(workspace.id);
    return { tab: rowOf(tab.id), trusted_now };
  }

  return {
    create: async (command, actor) => (await open(command, actor)).tab,
    open,
    trust,
    isClosing: (tab) => closing.has(tab),
    async close(tabId, actor) {
      const place = store.findTab(tabId);
      if (!place || closing.has(tabId)) throw noTab();
      actor.assertLive();
      closing.add(tabId);
      const family = place.tab.agents.map((agent) => agents.get(agent.id));
      for (const agent of family) agent.closing = true;
      // An agent that is added while we wait goes with the tab; its first record finds no tab and is refused.
      let last = place.tab;
      try {
        await Promise.all([options.agentCommands.endTurns(family), options.endRequestsOfTab(tabId)]);
        await workspaces.removeTab(tabId, () => {
          actor.assertLive();
          last = store.findTab(tabId)?.tab ?? last;
        });
      } catch (error) {
        for (const agent of family) agent.closing = false;
        throw error;
      } finally {
        closing.delete(tabId);
      }
      for (const agent of last.agents) {
        options.agentCommands.announceClosed(agent, tabId);
        agents.peek(agent.id)?.current?.controller.abort("cancelled");
        await agents.retire(agent.id);
      }
      agents.forgetTab(tabId);
      append({ type: "tab_closed", tab: tabId });
      agents.announceWorkspace(place.workspace.id);
    },
    async setMode(command, actor) {
      options.assertOpen();
      const before = rowOf(command.tab);
      await workspaces.changeTab(
        command.tab,
        (tab) => ({ ...tab, mode: command.mode }),
        () => actor.assertLive(),
      );
      if (before.mode !== command.mode) {
        append({ type: "mode", tab: command.tab, mode: command.mode });
        agents.announceTab(command.tab);
      }
      return rowOf(command.tab);
    },
  };
}

/** The name of a tab that was given none. */
export function tabNameOf(cwd: string): string {
  return cleanLabel(basename(cwd), limits.labelChars) || (cwd === "/" ? "/" : "folder");
}
