import { useSignal } from "@preact/signals";
import type { Job } from "../../src/protocol/objects.ts";
import { hrefOf } from "../state/router.ts";
import { useSession } from "../state/session.ts";
import { Button } from "../ui/button.tsx";
import { ConfirmDialog } from "../ui/confirm-dialog.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Page } from "../ui/page.tsx";
import { scrollable } from "../ui/scrollable.ts";
import { StateMark } from "../ui/state-mark.tsx";
import { EmptyState, Spinner } from "../ui/states.tsx";
import { Time } from "../ui/time.tsx";
import { visible } from "../ui/visible-text.ts";
import { DownloadLog } from "./download-log.tsx";
import { JobOutput } from "./job-output.tsx";
import { commandTitle, endText, markOf, sizeText } from "./job-words.ts";
import "./jobs-list.css";

const back = { href: hrefOf("/jobs"), label: "Back to the jobs" };

/** One job: its command whole, how it is, its output, and the way to end it. */
export function JobView({ id }: { readonly id: string }) {
  const { jobs, snapshot, may, act } = useSession();
  const asksToKill = useSignal(false);
  const showsCommand = useSignal(false);
  const job = jobs.value.find((one) => one.id === id);
  if (job === undefined)
    return (
      <Page title="Job" back={back}>
        {snapshot.value === null ? (
          <Spinner />
        ) : (
          <EmptyState icon="jobs" title="There is no such job">
            <p>Logs of jobs that ended are removed after a while.</p>
          </EmptyState>
        )}
      </Page>
    );
  const { title } = commandTitle(job.command);
  return (
    <Page title={visible(title)} layout="full" class="job-page" back={back} lead={<Facts job={job} />}>
      <JobOutput job={job} onWholeCommand={() => (showsCommand.value = true)}>
        {job.state === "running" && may("drive") && (
          <Button kind="danger" icon="stop" onClick={() => (asksToKill.value = true)}>
            Stop
          </Button>
        )}
        <DownloadLog job={job} />
      </JobOutput>
      {showsCommand.value && (
        <WholeCommand command={job.command} onClose={() => (showsCommand.value = false)} />
      )}
      {asksToKill.value && (
        <ConfirmDialog
          title="Stop this job?"
          verb="Stop it"
          keep="Let it run"
          onClose={() => (asksToKill.value = false)}
          onConfirm={() => {
            asksToKill.value = false;
            void act({ type: "job_kill", job: job.id });
          }}
        >
          <p>
            <code>{visible(title)}</code>
          </p>
          <p>
            It and everything that it started are asked to end, and made to end after three seconds. Its
            output stays.
          </p>
        </ConfirmDialog>
      )}
    </Page>
  );
}

function WholeCommand({ command, onClose }: { readonly command: string; readonly onClose: () => void }) {
  return (
    <Dialog title="The whole command" size="large" onClose={onClose}>
      <figure class="whole-command" aria-label="The whole command">
        <pre {...scrollable} dir="ltr">
          {visible(command)}
        </pre>
      </figure>
    </Dialog>
  );
}

function Facts({ job }: { readonly job: Job }) {
  const { agents } = useSession();
  const end = endText(job);
  const agent = job.agent === null ? undefined : agents.value.get(job.agent);
  return (
    <span class="job-facts">
      <StateMark state={markOf(job)} {...(end === null ? {} : { word: end })} />
      <span>
        {job.ended === null ? "started" : "ended"} <Time at={job.ended ?? job.started} />
      </span>
      <span class="job-folder">{visible(job.cwd)}</span>
      {job.ended !== null && job.bytes > 0 && <span>{sizeText(job.bytes)}</span>}
      {agent !== undefined && <a href={hrefOf(`/agent/${agent.id}`)}>Its conversation</a>}
    </span>
  );
}
