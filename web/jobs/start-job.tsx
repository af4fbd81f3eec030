import { useSignal } from "@preact/signals";
import { errorText } from "../state/error-text.ts";
import { navigate } from "../state/router.ts";
import { useSession } from "../state/session.ts";
import { toast } from "../state/toasts.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { SelectField, TextField } from "../ui/field.tsx";
import { visible } from "../ui/visible-text.ts";

/** Starts a command in the background, in the folder of a tab. */
export function StartJob({ onClose }: { readonly onClose: () => void }) {
  const session = useSession();
  const tabs = session.tabs.value;
  const tab = useSignal(session.workspace.peek()?.active_tab ?? tabs[0]?.id ?? "");
  const command = useSignal("");
  const problem = useSignal<string | null>(null);
  const isBusy = useSignal(false);
  const asksFirst = !session.may("approve");

  async function start(): Promise<void> {
    if (command.value.trim() === "") {
      problem.value = "Write the command that is to run.";
      return;
    }
    isBusy.value = true;
    problem.value = null;
    try {
      const reply = await session.client.command({
        type: "job_start",
        tab: tab.value,
        command: command.value,
      });
      onClose();
      if (reply.type === "job_started") navigate(`/jobs/${reply.job.id}`);
      else toast("It runs when another device allows it.");
    } catch (error) {
      problem.value = errorText(error);
      isBusy.value = false;
    }
  }

  if (tabs.length === 0)
    return (
      <Dialog title="Start a job" onClose={onClose}>
        <p>A job runs in the folder of a tab, and none is open. Open a folder on the page Work first.</p>
      </Dialog>
    );
  return (
    <Dialog title="Start a job" onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void start();
        }}
      >
        <TextField
          label="Command"
          hint={asksFirst ? "Somebody who may approve is asked before it runs." : "Runs under /bin/sh."}
          value={command.value}
          problem={problem.value}
          onValue={(value) => {
            command.value = value;
          }}
          isProse={false}
          autocapitalize="off"
          autocomplete="off"
          enterkeyhint="go"
        />
        <SelectField
          label="Folder"
          value={tab.value}
          onValue={(value) => {
            tab.value = value;
          }}
          options={tabs.map(({ id, name, cwd }) => ({
            value: id,
            label: `${visible(name)}: ${visible(cwd)}`,
          }))}
        />
        <Button type="submit" kind="primary" isWide isBusy={isBusy.value}>
          Start
        </Button>
      </form>
    </Dialog>
  );
}
