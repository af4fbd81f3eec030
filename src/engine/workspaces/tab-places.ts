import { SallyportError } from "../../errors.ts";
import type { ChangeBody } from "../../protocol/changes.ts";
import type { Job, Tab } from "../../protocol/objects.ts";
import type { Actor } from "../actor.ts";
import type { Agents } from "../agents/agents.ts";
import { engineLimits } from "../engine-limits.ts";
import { noTab, noWorkspace } from "../not-found.ts";
import { checkedName } from "./checked-name.ts";
import type { Places } from "./places.ts";
import type { TabDoc, WorkspaceDoc } from "./workspace-doc.ts";
import type { Workspaces } from "./workspaces.ts";

export type TabPlaces = Pick<Places, "renameTab" | "moveTab" | "activateTab">;

export interface TabPlacesOptions {
  readonly workspaces: Workspaces;
  readonly agents: Agents;
  /** True for a tab that is being closed. */
  readonly isClosing: (tab: string) => boolean;
  /** As they are now. */
  readonly jobsOf: (tab: string) => readonly Job[];
  readonly assertOpen: () => void;
  readonly append: (change: ChangeBody) => void;
}

/** Where tabs are: their order, their workspace, and which one is active. */
export function createTabPlaces(options: TabPlacesOptions): TabPlaces {
  const { workspaces, agents } = options;
  const { store } = workspaces;

  function placeOf(tabId: string): { readonly workspace: WorkspaceDoc; readonly tab: TabDoc } {
    const place = options.isClosing(tabId) ? null : store.findTab(tabId);
    if (!place) throw noTab();
    return place;
  }
  function rowOf(tabId: string): Tab {
    const row = agents.tabRow(tabId);
    if (!row) throw noTab();
    return row;
  }
  const committing = (actor: Actor, tabId: string) => (): void => {
    options.assertOpen();
    actor.assertLive();
    placeOf(tabId);
  };
  function announceOrder(id: string): void {
    const doc = store.get(id);
    if (doc) options.append({ type: "tabs_reordered", workspace: id, tabs: doc.tabs.map((tab) => tab.id) });
  }

  return {
    async renameTab(command, actor) {
      const name = checkedName(command.name);
      placeOf(command.tab);
      await workspaces.changeTab(command.tab, (tab) => ({ ...tab, name }), committing(actor, command.tab));
      agents.announceTab(command.tab);
      return rowOf(command.tab);
    },
    async activateTab(tabId, actor) {
      const { workspace } = placeOf(tabId);
      const commit = committing(actor, tabId);
      let changed = false;
      await store.update(workspace.id, (doc) => {
        commit();
        if (!doc.tabs.some((tab) => tab.id === tabId)) throw noTab();
        changed = doc.active_tab !== tabId;
        return { ...doc, active_tab: tabId };
      });
      if (changed) agents.announceWorkspace(workspace.id);
      workspaces.touch(workspace.id);
      return rowOf(tabId);
    },
    async moveTab(command, actor) {
      const { tab: tabId, index } = command;
      const from = placeOf(tabId).workspace;
      const to = command.workspace === undefined ? from : store.get(command.workspace);
      if (!to) throw noWorkspace();
      const commit = committing(actor, tabId);
      if (to.id === from.id) {
        await store.update(from.id, (doc) => {
          const tab = doc.tabs.find((each) => each.id === tabId);
          if (!tab) throw noTab();
          const others = doc.tabs.filter((each) => each.id !== tabId);
          checkIndex(index, others.length);
          commit();
          return { ...doc, tabs: others.toSpliced(index, 0, tab) };
        });
        announceOrder(from.id);
        return rowOf(tabId);
      }
      await store.moveTab(tabId, to.id, (doc, tab) => {
        checkIndex(index, doc.tabs.length);
        if (doc.tabs.length >= engineLimits.tabsPerWorkspace)
          throw new SallyportError(
            "conflict",
            `That workspace has ${doc.tabs.length} tabs; close some first.`,
            {
              reason: "in_use",
            },
          );
        commit();
        return { ...doc, tabs: doc.tabs.toSpliced(index, 0, tab), active_tab: doc.active_tab ?? tab.id };
      });
      agents.announceTab(tabId);
      for (const job of options.jobsOf(tabId)) options.append({ type: "job_updated", job });
      for (const id of [from.id, to.id]) {
        announceOrder(id);
        agents.announceWorkspace(id);
      }
      return rowOf(tabId);
    },
  };
}

/** @param last the greatest place: there the tab becomes the last one */
function checkIndex(index: number, last: number): void {
  if (index > last)
    throw new SallyportError("invalid_field", `\`index\` is past the end: the last place is ${last}.`, {
      field: "index",
    });
}
