import { Page } from "../ui/page.tsx";
import { EmptyState } from "../ui/states.tsx";

export function UsagePage() {
  return (
    <Page title="Usage">
      <EmptyState title="Nothing here yet" />
    </Page>
  );
}
