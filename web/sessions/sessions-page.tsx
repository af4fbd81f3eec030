import { Page } from "../ui/page.tsx";
import { EmptyState } from "../ui/states.tsx";

export function SessionsPage() {
  return (
    <Page title="Sessions">
      <EmptyState title="Nothing here yet" />
    </Page>
  );
}
