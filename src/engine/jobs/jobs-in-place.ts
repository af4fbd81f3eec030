import type { Job } from "../../protocol/objects.ts";
import type { Jobs } from "./jobs.ts";

/**
 * The same jobs, each in the workspace where its tab is now; one whose tab is closed stays where that was. Their records
 * keep where they were started: a move of a tab writes none of them.
 *
 * @param workspaceOf the workspace that has a tab; null for none
 */
export function jobsInPlace(jobs: Jobs, workspaceOf: (tab: string) => string | null): Jobs {
  function inPlace(job: Job): Job {
    const workspace = job.tab === null ? null : workspaceOf(job.tab);
    return workspace === null || workspace === job.workspace ? job : { ...job, workspace };
  }
  return {
    ...jobs,
    start: async (spec, beforeSpawn) => inPlace(await jobs.start(spec, beforeSpawn)),
    list: () => jobs.list().map(inPlace),
    get(id) {
      const job = jobs.get(id);
      return job && inPlace(job);
    },
    kill: async (id, beforeSignal) => inPlace(await jobs.kill(id, beforeSignal)),
    // Asked at each call, not copied: a test watches it.
    runCall: (spec) => jobs.runCall(spec),
    onChange: (listener) => jobs.onChange((kind, job) => listener(kind, inPlace(job))),
  };
}
