import { Page } from "../ui/page.tsx";
import { EmptyState } from "../ui/states.tsx";

export function JobsPage() {
  return (
    <Page title="Jobs">
      <EmptyState title="Nothing here yet" />
    </Page>
  );
}
