import { PushSettings } from "../push/push-settings.tsx";
import { Page } from "../ui/page.tsx";

export function SettingsPage() {
  return (
    <Page title="Settings">
      <section aria-labelledby="notifications">
        <h2 id="notifications">Notifications</h2>
        <PushSettings />
      </section>
    </Page>
  );
}
