import { markOf } from "../jobs/job-words.ts";
import { hrefOf } from "../state/router.ts";
import { useSession } from "../state/session.ts";
import { List, Row } from "../ui/list.tsx";
import { StateMark } from "../ui/state-mark.tsx";
import { visible } from "../ui/visible-text.ts";

const maxShown = 8;

/** The jobs that run, and the newest that have ended, in the right pane of a wide window. */
export function JobsPane() {
  const { jobs } = useSession();
  const all = jobs.value;
  const shown = [
    ...all.filter(({ state }) => state === "running"),
    ...all.filter(({ state }) => state !== "running"),
  ];
  return (
    <section aria-labelledby="jobs-pane">
      <h2 id="jobs-pane">Jobs</h2>
      {all.length === 0 && <p class="quiet-text">No job was started yet.</p>}
      <List>
        {shown.slice(0, maxShown).map((job) => (
          <Row
            key={job.id}
            title={<code>{visible(job.command)}</code>}
            detail={<StateMark state={markOf(job)} />}
            href={hrefOf(`/jobs/${job.id}`)}
          />
        ))}
      </List>
    </section>
  );
}
