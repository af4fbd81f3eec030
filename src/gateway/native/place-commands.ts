import type { Places } from "../../engine/workspaces/places.ts";
import type { CommandHandlers } from "./command-table.ts";
import type { OpenWorkspaces } from "./open-workspaces.ts";

type PlaceCommands = Pick<
  CommandHandlers,
  | "launch"
  | "workspace_list"
  | "workspace_create"
  | "workspace_open"
  | "workspace_rename"
  | "workspace_delete"
  | "tab_create"
  | "tab_rename"
  | "tab_runtime"
  | "tab_move"
  | "tab_activate"
>;

/** The commands of workspaces and tabs. `workspace_open` and `launch` change the workspace of their connection alone. */
export function createPlaceCommands(places: Places, openWorkspaces: OpenWorkspaces): PlaceCommands {
  return {
    async launch(command, { actor, connection }) {
      const { agent, turn, trusted_now, workspace, tab } = await places.launch(command, actor);
      connection?.workspace.change(workspace);
      return {
        type: "launched",
        workspace,
        tab,
        ...(agent === null ? {} : { agent, turn }),
        ...(trusted_now === null ? {} : { trusted_now }),
      };
    },
    workspace_list: () => ({ type: "workspaces", workspaces: places.list() }),
    async workspace_create(command, { actor }) {
      const { id, name } = await places.create(command, actor);
      return { type: "ack", workspace: id, name };
    },
    workspace_open(command, { actor, connection }) {
      const workspace = places.open(command.workspace, actor);
      connection?.workspace.change(workspace.id);
      return { type: "workspace_opened", workspace };
    },
    async workspace_rename(command, { actor }) {
      const { id, name } = await places.rename(command, actor);
      return { type: "ack", workspace: id, name };
    },
    async workspace_delete({ workspace }, { actor }) {
      await places.remove(workspace, actor, () => openWorkspaces.isOpen(workspace));
      return { type: "ack", workspace };
    },
    async tab_create(command, { actor }) {
      const { tab, trusted_now } = await places.openTab(command, actor);
      return {
        type: "ack",
        workspace: tab.workspace,
        tab: tab.id,
        ...(trusted_now === null ? {} : { trusted_now }),
      };
    },
    async tab_rename(command, { actor }) {
      const tab = await places.renameTab(command, actor);
      return { type: "ack", workspace: tab.workspace, tab: tab.id, name: tab.name };
    },
    async tab_runtime(command, { actor }) {
      const { workspace, id, runtime, model = null } = await places.setTabRuntime(command, actor);
      return { type: "ack", workspace, tab: id, runtime, model };
    },
    async tab_move(command, { actor }) {
      const tab = await places.moveTab(command, actor);
      return { type: "ack", workspace: tab.workspace, tab: tab.id, index: command.index };
    },
    async tab_activate(command, { actor }) {
      const tab = await places.activateTab(command.tab, actor);
      return { type: "ack", workspace: tab.workspace, tab: tab.id };
    },
  };
}
