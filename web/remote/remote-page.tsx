import { Page } from "../ui/page.tsx";
import { EmptyState } from "../ui/states.tsx";

export function RemotePage() {
  return (
    <Page title="Remote">
      <EmptyState title="Nothing here yet" />
    </Page>
  );
}
