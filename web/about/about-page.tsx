import { Page } from "../ui/page.tsx";
import { EmptyState } from "../ui/states.tsx";

export function AboutPage() {
  return (
    <Page title="About">
      <EmptyState title="Nothing here yet" />
    </Page>
  );
}
