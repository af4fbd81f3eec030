import { signal } from "@preact/signals";
import { match, path } from "../state/router.ts";
import { useSession } from "../state/session.ts";
import { Badge } from "../ui/badge.tsx";
import { RequestList } from "./request-list.tsx";

/** The pane is hidden below this: then its cards are not made a second time. */
const wide = matchMedia("(width >= 76em)");
const isWide = signal(wide.matches);
wide.addEventListener("change", () => {
  isWide.value = wide.matches;
});

/** What waits for an answer, in the right pane of a wide window; not beside the page of just these. */
export function ApprovalsPane() {
  const { waiting } = useSession();
  if (match("/approvals/:request?", path.value) !== null) return null;
  return (
    <section aria-labelledby="approvals-pane">
      <h2 id="approvals-pane">
        Approvals <Badge count={waiting.value} label="wait for you" />
      </h2>
      {waiting.value === 0 && <p class="quiet-text">Nothing waits for you.</p>}
      {isWide.value && <RequestList />}
    </section>
  );
}
