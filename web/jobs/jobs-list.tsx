import { useSignal } from "@preact/signals";
import type { Job } from "../../src/protocol/objects.ts";
import { hrefOf } from "../state/router.ts";
import { useSession } from "../state/session.ts";
import { Button } from "../ui/button.tsx";
import { List, Row } from "../ui/list.tsx";
import { Page } from "../ui/page.tsx";
import { StateMark } from "../ui/state-mark.tsx";
import { EmptyState } from "../ui/states.tsx";
import { Time } from "../ui/time.tsx";
import { visible } from "../ui/visible-text.ts";
import { endText, markOf, sizeText, sortJobs } from "./job-words.ts";
import { StartJob } from "./start-job.tsx";
import "./jobs-list.css";

/** More than these are not drawn; whoever looks for an older one searches its conversation. */
const maxShown = 200;

/** What runs in the background, and what did. */
export function JobsList() {
  const { jobs, may } = useSession();
  const isStarting = useSignal(false);
  const sorted = sortJobs(jobs.value);
  const running = sorted.filter(({ state }) => state === "running");
  const ended = sorted.slice(running.length, running.length + maxShown);
  return (
    <Page
      title="Jobs"
      lead="They go on without this page, and without the daemon."
      actions={
        may("drive") && (
          <Button kind="primary" icon="plus" onClick={() => (isStarting.value = true)}>
            Start a job
          </Button>
        )
      }
    >
      {sorted.length === 0 && (
        <EmptyState icon="jobs" title="No job was started yet">
          <p>
            A job is a command in the background: start one here, or end a line with <code>&amp;</code> in a
            conversation with the shell.
          </p>
        </EmptyState>
      )}
      <Group title="Running" jobs={running} />
      <Group title="Ended" jobs={ended} />
      {isStarting.value && <StartJob onClose={() => (isStarting.value = false)} />}
    </Page>
  );
}

function Group({ title, jobs }: { readonly title: string; readonly jobs: readonly Job[] }) {
  if (jobs.length === 0) return null;
  return (
    <section>
      <h2>{title}</h2>
      <List label={title}>
        {jobs.map((job) => (
          <Row
            key={job.id}
            href={hrefOf(`/jobs/${job.id}`)}
            title={<code class="job-command">{visible(job.command)}</code>}
            detail={<Facts job={job} />}
          />
        ))}
      </List>
    </section>
  );
}

function Facts({ job }: { readonly job: Job }) {
  const end = endText(job);
  return (
    <span class="job-facts">
      <StateMark state={markOf(job)} {...(end === null ? {} : { word: end })} />
      <span>
        <Time at={job.ended ?? job.started} />
      </span>
      <span>{visible(job.cwd)}</span>
      {job.bytes > 0 && <span>{sizeText(job.bytes)}</span>}
    </span>
  );
}
