import { SallyportError } from "../../errors.ts";
import type { ChangeBody } from "../../protocol/changes.ts";
import type { Workspace } from "../../protocol/objects.ts";
import type { Actor } from "../actor.ts";
import type { Agents } from "../agents/agents.ts";
import { noWorkspace } from "../not-found.ts";
import { checkedName } from "./checked-name.ts";
import type { Places } from "./places.ts";
import { workspaceRow } from "./rows.ts";
import type { WorkspaceDoc } from "./workspace-doc.ts";
import { freshWorkspace, type Workspaces } from "./workspaces.ts";

export type WorkspaceCommands = Pick<Places, "list" | "last" | "open" | "create" | "rename" | "remove">;

export interface WorkspaceCommandsOptions {
  readonly workspaces: Workspaces;
  readonly agents: Agents;
  /** The workspace as a snapshot shows it. Throws `not_found`. */
  readonly view: (workspace: string) => Workspace;
  readonly assertOpen: () => void;
  readonly endRequestsOfTab: (tab: string) => Promise<void>;
  readonly now: () => number;
  readonly append: (change: ChangeBody) => void;
}

/** As agent commands: checked again at the commit point. The last workspace, and one whose agents run, cannot be deleted. */
export function createWorkspaceCommands(options: WorkspaceCommandsOptions): WorkspaceCommands {
  const { workspaces, agents, append } = options;
  const { store } = workspaces;

  const committing = (actor: Actor) => (): void => {
    options.assertOpen();
    actor.assertLive();
  };

  function isRunning(doc: WorkspaceDoc): boolean {
    return doc.tabs.some((tab) =>
      tab.agents.some(({ id }) => {
        const agent = agents.peek(id);
        return agent !== null && (agent.current !== null || agent.next !== null);
      }),
    );
  }

  function refuseInUse(doc: WorkspaceDoc, isOpen: () => boolean): void {
    const conflict = (reason: "in_use" | "running", message: string): SallyportError =>
      new SallyportError("conflict", message, { reason, field: "workspace" });
    if (isRunning(doc))
      throw conflict("running", "Agents of this workspace are running; wait for them, or cancel them first.");
    if (store.list().length === 1)
      throw conflict("in_use", "This is the only workspace; make another one first.");
    if (isOpen())
      throw conflict("in_use", "A client has this workspace open; it has to open another one first.");
  }

  /** What was touched of a workspace that is gone. */
  async function letGo(doc: WorkspaceDoc): Promise<void> {
    for (const tab of doc.tabs) {
      await options.endRequestsOfTab(tab.id);
      for (const { id } of tab.agents) {
        // One that was prompted in the very last moment.
        agents.peek(id)?.current?.controller.abort("cancelled");
        await agents.retire(id);
      }
      agents.forgetTab(tab.id);
    }
  }

  return {
    list: () => store.list().map(workspaceRow),
    last: () => workspaces.last().id,
    open(id, actor) {
      if (!store.get(id)) throw noWorkspace();
      actor.assertLive();
      if (actor.has("drive")) workspaces.touch(id);
      return options.view(id);
    },
    async create(command, actor) {
      const doc = { ...freshWorkspace(null, options.now()), name: checkedName(command.name) };
      await store.create(doc, committing(actor));
      const row = workspaceRow(doc);
      append({ type: "workspace_created", workspace: row });
      return row;
    },
    async rename(command, actor) {
      const name = checkedName(command.name);
      if (!store.get(command.workspace)) throw noWorkspace();
      const commit = committing(actor);
      const doc = await store.update(command.workspace, (before) => {
        commit();
        return { ...before, name };
      });
      agents.announceWorkspace(doc.id);
      return workspaceRow(doc);
    },
    async remove(id, actor, isOpen) {
      const doc = store.get(id);
      if (!doc) throw noWorkspace();
      refuseInUse(doc, isOpen);
      const commit = committing(actor);
      const gone = await store.remove(id, (last) => {
        commit();
        refuseInUse(last, isOpen);
      });
      append({ type: "workspace_deleted", workspace: id });
      await letGo(gone);
    },
  };
}
