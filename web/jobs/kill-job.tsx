import { useSignal } from "@preact/signals";
import type { Job } from "../../src/protocol/objects.ts";
import { useSession } from "../state/session.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { visible } from "../ui/visible-text.ts";

/** Asks once more before a job and all that it started is ended. */
export function KillJob({ job, onClose }: { readonly job: Job; readonly onClose: () => void }) {
  const session = useSession();
  const isBusy = useSignal(false);

  async function kill(): Promise<void> {
    isBusy.value = true;
    await session.act({ type: "job_kill", job: job.id });
    onClose();
  }

  return (
    <Dialog
      title="Stop this job?"
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Let it run</Button>
          <Button kind="danger" icon="stop" isBusy={isBusy.value} onClick={() => void kill()}>
            Stop it
          </Button>
        </>
      }
    >
      <p>
        <code>{visible(job.command)}</code>
      </p>
      <p>
        It and everything that it started are asked to end, and made to end after three seconds. Its output
        stays.
      </p>
    </Dialog>
  );
}
