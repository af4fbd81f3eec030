import type { Tool } from "../protocol/rest-objects.ts";

/** What the daemon itself offers to every client, whatever runs in a tab. */
export const daemonTools: readonly Tool[] = [
  {
    name: "job_list",
    runtime: null,
    kind: "safe",
    description: "Lists the background jobs.",
  },
  {
    name: "job_output",
    runtime: null,
    kind: "safe",
    description: "Reads the output of a job, by offset or from its end.",
  },
  {
    name: "job_start",
    runtime: null,
    kind: "execute",
    description: "Runs a command line as a job that outlives the turn and the daemon.",
  },
  {
    name: "job_kill",
    runtime: null,
    kind: "execute",
    description: "Ends a job with all its processes: SIGTERM, after three seconds SIGKILL.",
  },
];
