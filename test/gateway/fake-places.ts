import type { Actor } from "../../src/engine/actor.ts";
import type { Places } from "../../src/engine/workspaces/places.ts";
import { SallyportError } from "../../src/errors.ts";
import { newId } from "../../src/lib/ids.ts";
import type { Tab, WorkspaceRow } from "../../src/protocol/objects.ts";

/** Places with one workspace and one tab; each call that changes something is told to `changed`. */
export function fakePlaces(
  row: WorkspaceRow,
  tab: Tab,
  changed: (name: string, actor: Actor) => void,
): Places {
  function known(id: string): void {
    if (id !== row.id)
      throw new SallyportError("not_found", "There is no such workspace.", { field: "workspace" });
  }
  return {
    list: () => [row],
    last: () => row.id,
    open(id) {
      known(id);
      return { id, name: row.name, active_tab: row.active_tab, tabs: [{ ...tab, agents: [] }] };
    },
    async create(command, actor) {
      changed("workspace_create", actor);
      return { ...row, id: newId(), name: command.name };
    },
    async rename(command, actor) {
      known(command.workspace);
      changed("workspace_rename", actor);
      return { ...row, name: command.name };
    },
    async remove(id, actor, isOpen) {
      known(id);
      if (isOpen()) throw new SallyportError("conflict", "It is open.", { reason: "in_use" });
      changed("workspace_delete", actor);
    },
    async openTab(_command, actor) {
      changed("tab_create", actor);
      return { tab, trusted_now: null };
    },
    async setTabRuntime(command, actor) {
      changed("tab_runtime", actor);
      return { ...tab, runtime: command.runtime };
    },
    async renameTab(command, actor) {
      changed("tab_rename", actor);
      return { ...tab, name: command.name };
    },
    async moveTab(_command, actor) {
      changed("tab_move", actor);
      return tab;
    },
    async activateTab(_tab, actor) {
      changed("tab_activate", actor);
      return tab;
    },
    async launch(command, actor) {
      changed("launch", actor);
      const agent = command.text === undefined ? null : newId();
      return { workspace: row.id, tab: tab.id, agent, turn: agent, trusted_now: null };
    },
  };
}
