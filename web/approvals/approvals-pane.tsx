import { useSession } from "../state/session.ts";
import { Badge } from "../ui/badge.tsx";
import { RequestList } from "./request-list.tsx";

/** What waits for an answer, in the right pane of a wide window. */
export function ApprovalsPane() {
  const { waiting } = useSession();
  return (
    <section aria-labelledby="approvals-pane">
      <h2 id="approvals-pane">
        Approvals <Badge count={waiting.value} label="wait for you" />
      </h2>
      {waiting.value === 0 && <p class="quiet-text">Nothing waits for you.</p>}
      <RequestList />
    </section>
  );
}
