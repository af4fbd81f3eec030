import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Jobs } from "../../../src/engine/jobs/jobs.ts";

/** A command whose second piece of output comes when the first was heard, however busy the machine is. Needs `tellingJobs`. */
export const twoPieces = "rm -f heard; echo first piece; until [ -e heard ]; do sleep 0.02; done; echo two";

/** Jobs whose calls find a file `heard` in their folder once what they said has arrived. */
export function tellingJobs(jobs: Jobs): Jobs {
  return {
    ...jobs,
    runCall: (spec) =>
      jobs.runCall({
        ...spec,
        onOutput(text) {
          spec.onOutput(text);
          if (text.includes("first piece")) writeFileSync(join(spec.cwd, "heard"), "");
        },
      }),
  };
}
