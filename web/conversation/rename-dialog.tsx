import { useSignal } from "@preact/signals";
import type { Agent } from "../../src/protocol/objects.ts";
import { useSession } from "../state/session.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { TextField } from "../ui/field.tsx";

const maxTitleChars = 200;

/** Gives a conversation a title of one's own. */
export function RenameDialog({ agent, onClose }: { readonly agent: Agent; readonly onClose: () => void }) {
  const session = useSession();
  const title = useSignal(agent.title ?? agent.label ?? "");
  const isBusy = useSignal(false);
  const save = async (): Promise<void> => {
    const chosen = title.value.trim();
    if (chosen === "" || isBusy.value) return;
    isBusy.value = true;
    const reply = await session.act({ type: "session_update", session: agent.id, title: chosen });
    isBusy.value = false;
    if (reply !== null) onClose();
  };
  return (
    <Dialog title="Rename the conversation" onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        <TextField
          label="Title"
          value={title.value}
          onValue={(value) => {
            title.value = value;
          }}
          maxLength={maxTitleChars}
          enterkeyhint="done"
        />
        <div class="button-row">
          <Button type="submit" kind="primary" isBusy={isBusy.value} disabled={title.value.trim() === ""}>
            Save
          </Button>
          <Button onClick={onClose}>Cancel</Button>
        </div>
      </form>
    </Dialog>
  );
}
