import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { useSession } from "../state/session.ts";
import { Dialog } from "../ui/dialog.tsx";
import { RequestList } from "./request-list.tsx";
import { reviewed } from "./review.ts";

/** Long enough to see that the answer was taken. */
const closeMs = 900;

/** All that waits, over whichever page one is on. */
export function ApprovalsSheet() {
  const at = reviewed.value;
  return at === null ? null : <OpenSheet at={at} />;
}

/** Closes by itself only after an answer was given in it, and nothing else waits. */
function OpenSheet({ at }: { readonly at: string }) {
  const count = useSession().waiting.value;
  const hasAnswered = useSignal(false);
  const close = (): void => {
    reviewed.value = null;
  };
  const isDone = hasAnswered.value && count === 0;
  useEffect(() => {
    if (!isDone) return undefined;
    const timer = setTimeout(close, closeMs);
    return () => clearTimeout(timer);
  }, [isDone]);
  return (
    <Dialog
      title={
        count === 0 ? "Nothing waits for you" : count === 1 ? "1 waits for you" : `${count} wait for you`
      }
      size="large"
      onClose={close}
    >
      <RequestList
        at={at}
        onAnswered={() => {
          hasAnswered.value = true;
        }}
      />
    </Dialog>
  );
}
