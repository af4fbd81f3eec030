import { useSession } from "../state/session.ts";

/** What waits for an answer, in the right pane of a wide window. */
export function ApprovalsPane() {
  const waiting = useSession().waiting.value;
  return (
    <p class="quiet-text">{waiting === 0 ? "Nothing waits for you." : `${waiting} wait for an answer.`}</p>
  );
}
