import { useSession } from "../state/session.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { RequestList } from "./request-list.tsx";
import { reviewed } from "./review.ts";

/** Long enough to see that the answer was taken. */
const closeMs = 900;

/** All that waits, over whichever page one is on. */
export function ApprovalsSheet() {
  const { waiting } = useSession();
  const at = reviewed.value;
  if (at === null) return null;
  const close = (): void => {
    reviewed.value = null;
  };
  const count = waiting.value;
  return (
    <Dialog
      title={
        count === 0 ? "Nothing waits for you" : count === 1 ? "1 waits for you" : `${count} wait for you`
      }
      size="large"
      onClose={close}
      actions={<Button onClick={close}>Close</Button>}
    >
      <RequestList
        at={at}
        onAllAnswered={() =>
          setTimeout(() => {
            if (waiting.peek() === 0) close();
          }, closeMs)
        }
      />
    </Dialog>
  );
}
