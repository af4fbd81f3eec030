import type { PageProps } from "../routes/page-row.ts";
import { useSession } from "../state/session.ts";
import { Page } from "../ui/page.tsx";
import { EmptyState } from "../ui/states.tsx";
import { RequestList } from "./request-list.tsx";

/** All that waits for a person, in every workspace. A notification leads here, to one of them. */
export function ApprovalsPage({ params }: PageProps) {
  const session = useSession();
  const count = session.waiting.value;
  const { request } = params;
  const isGone =
    request !== undefined &&
    ![...session.pending.value, ...session.questions.value].some(({ request_id }) => request_id === request);
  const outcome = request === undefined ? undefined : session.outcomes.value.get(request);
  return (
    <Page
      title="Approvals"
      lead={count === 0 ? undefined : count === 1 ? "1 waits for you." : `${count} wait for you.`}
    >
      {isGone && (
        <p class="card" role="status">
          {outcome?.by == null
            ? "What was asked here is no longer open."
            : `Answered by ${outcome.by}: ${outcome.allowed ? "allowed" : "denied"}.`}
        </p>
      )}
      {count > 0 && <h2 class="unseen">What waits for an answer</h2>}
      <RequestList at={request ?? null} />
      {count === 0 && (
        <EmptyState icon="approve" title="Nothing waits for you">
          What an agent may not do by itself, and what it asks you, comes here and to every other device of
          yours.
        </EmptyState>
      )}
    </Page>
  );
}
