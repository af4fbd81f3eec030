import type { PageProps } from "../routes/page-row.ts";
import { JobView } from "./job-view.tsx";
import { JobsList } from "./jobs-list.tsx";

/** All jobs, or one with its output. */
export function JobsPage({ params }: PageProps) {
  return params.job === undefined ? <JobsList /> : <JobView key={params.job} id={params.job} />;
}
