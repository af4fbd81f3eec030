import { basename } from "node:path";
import { SallyportError } from "../../errors.ts";
import type { ChangeBody } from "../../protocol/changes.ts";
import type { CommandOf } from "../../protocol/commands.ts";
import { limits } from "../../protocol/limits.ts";
import type { Tab } from "../../protocol/objects.ts";
import type { Actor } from "../actor.ts";
import type { AgentCommands } from "../agents/agent-commands.ts";
import type { Agents } from "../agents/agents.ts";
import { cleanLabel } from "../visible-text.ts";
import type { TrustedFolders } from "./trusted-folders.ts";
import { newTabDoc, type Workspaces } from "./workspaces.ts";

export interface TabCommands {
  create(command: CommandOf<"tab_create">, actor: Actor): Promise<Tab>;
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
  readonly assertOpen: () => void;
  /** Ends job requests that wait for an answer in this tab. */
  readonly endRequestsOfTab: (tab: string) => Promise<void>;
  readonly append: (change: ChangeBody) => void;
}

export function createTabCommands(options: TabCommandsOptions): TabCommands {
  const { workspaces, agents, append } = options;
  const { store } = workspaces;
  const closing = new Set<string>();

  function rowOf(tabId: string): Tab {
    const row = agents.tabRow(tabId);
    if (!row) throw noTab();
    return row;
  }

  return {
    async create(command, actor) {
      options.assertOpen();
      actor.assertLive();
      const workspace = command.workspace === undefined ? workspaces.last() : store.get(command.workspace);
      if (!workspace) throw new SallyportError("not_found", "There is no such workspace.");
      const name = command.name === undefined ? null : cleanLabel(command.name, limits.labelChars);
      if (name === "")
        throw new SallyportError("invalid_field", "The name has nothing to show.", { field: "name" });
      const cwd = await options.resolveCwd(command.cwd, !actor.has("admin"));
      const commit = (): void => {
        options.assertOpen();
        actor.assertLive();
      };
      // Whoever opens a tab and may approve what runs in it says that he knows the folder.
      const trusts = actor.by.device === null || actor.has("approve");
      const newlyTrusted = trusts && (await options.trusted.add(cwd, commit));
      const tab = newTabDoc({ cwd, name: name ?? tabNameOf(cwd), mode: command.mode ?? "ask" });
      await workspaces.addTab(workspace.id, tab, commit);
      append({ type: "tab_created", tab: rowOf(tab.id) });
      if (newlyTrusted) {
        for (const other of store.list().flatMap((doc) => doc.tabs)) {
          if (other.cwd === cwd && other.id !== tab.id) agents.announceTab(other.id);
        }
      }
      agents.announceWorkspace(workspace.id);
      workspaces.touch(workspace.id);
      return rowOf(tab.id);
    },
    async close(tabId, actor) {
      const place = store.findTab(tabId);
      if (!place || closing.has(tabId)) throw noTab();
      actor.assertLive();
      closing.add(tabId);
      const live = place.tab.agents.map((agent) => agents.peek(agent.id)).filter((agent) => agent !== null);
      for (const agent of live) agent.closing = true;
      // An agent that is added while we wait goes with the tab; its first record finds no tab and is refused.
      let last = place.tab;
      try {
        await Promise.all([options.agentCommands.endTurns(live), options.endRequestsOfTab(tabId)]);
        await workspaces.removeTab(tabId, () => {
          actor.assertLive();
          last = store.findTab(tabId)?.tab ?? last;
        });
      } catch (error) {
        for (const agent of live) agent.closing = false;
        throw error;
      } finally {
        closing.delete(tabId);
      }
      for (const agent of last.agents) {
        options.agentCommands.announceClosed(agent, tabId);
        const gone = agents.peek(agent.id);
        if (!gone) continue;
        gone.closing = true;
        gone.current?.controller.abort("cancelled");
        agents.forget(agent.id);
        if (!gone.current) await gone.transcript.release();
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

function noTab(): SallyportError {
  return new SallyportError("not_found", "There is no such tab; it may have been closed.");
}
