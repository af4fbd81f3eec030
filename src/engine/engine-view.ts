import { SallyportError } from "../errors.ts";
import type { Agents } from "./agents/agents.ts";
import type { ChangeLog } from "./change-log.ts";
import type { Engine } from "./engine.ts";
import type { Jobs } from "./jobs/jobs.ts";
import type { Permissions } from "./requests/permissions.ts";
import type { Questions } from "./requests/questions.ts";
import { workspaceRow, workspaceView } from "./workspaces/rows.ts";
import type { Workspaces } from "./workspaces/workspaces.ts";

export interface EngineViewOptions {
  readonly changeLog: ChangeLog;
  readonly workspaces: Workspaces;
  readonly agents: Agents;
  readonly permissions: Permissions;
  readonly questions: Questions;
  readonly jobs: Jobs;
}

/** What the engine shows at one moment: read in one step, so that it fits the `rev` that it carries. */
export function createEngineView(options: EngineViewOptions): Pick<Engine, "snapshot" | "counts"> {
  const { changeLog, workspaces, agents, permissions, questions, jobs } = options;
  const { store } = workspaces;

  /** A tab may have moved to another workspace since an agent of it asked. */
  function whereItIsNow<T extends { readonly workspace: string; readonly tab: string }>(request: T): T {
    const workspace = store.findTab(request.tab)?.workspace.id ?? request.workspace;
    return workspace === request.workspace ? request : { ...request, workspace };
  }

  return {
    snapshot(workspaceId) {
      const doc = workspaceId === undefined ? workspaces.last() : store.get(workspaceId);
      if (!doc) throw new SallyportError("not_found", "There is no such workspace.", { field: "workspace" });
      return {
        rev: changeLog.rev,
        instance: changeLog.instance,
        workspaces: store.list().map(workspaceRow),
        workspace: workspaceView(doc, agents.factsOf, agents.activityOf),
        pending: permissions.list().map(whereItIsNow),
        questions: questions.list().map(whereItIsNow),
        jobs: jobs.list(),
      };
    },
    counts() {
      const workspaces = store.list();
      // Plain loops: every poll of every client comes here.
      let loadedTabs = 0;
      for (const doc of workspaces) for (const tab of doc.tabs) if (agents.isLoaded(tab.id)) loadedTabs += 1;
      let runningAgents = 0;
      for (const agent of agents.list()) if (agent.current) runningAgents += 1;
      return {
        workspaces: workspaces.length,
        loaded_tabs: loadedTabs,
        running_agents: runningAgents,
        running_jobs: jobs.runningCount(),
        pending: permissions.list().length + questions.list().length,
      };
    },
  };
}
