import { Page } from "../ui/page.tsx";
import { EmptyState } from "../ui/states.tsx";

export function SettingsPage() {
  return (
    <Page title="Settings">
      <EmptyState title="Nothing here yet" />
    </Page>
  );
}
