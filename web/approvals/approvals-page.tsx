import { Page } from "../ui/page.tsx";
import { EmptyState } from "../ui/states.tsx";

export function ApprovalsPage() {
  return (
    <Page title="Approvals">
      <EmptyState icon="approve" title="Nothing waits for you" />
    </Page>
  );
}
