import { useSignal } from "@preact/signals";
import type { Setting, Settings } from "../../src/protocol/rest-objects.ts";
import { PushSettings } from "../push/push-settings.tsx";
import { useSession } from "../state/session.ts";
import { useRest } from "../state/use-rest.ts";
import { TextField } from "../ui/field.tsx";
import { Page } from "../ui/page.tsx";
import { EmptyState, ErrorState, Spinner } from "../ui/states.tsx";
import { AwakeChoice } from "./awake-choice.tsx";
import { groupSettings } from "./setting-groups.ts";
import { SettingRow } from "./setting-row.tsx";
import "./settings-page.css";

/** Notifications of this browser, the machine's sleep, and what the file config.toml says. */
export function SettingsPage() {
  const { may } = useSession();
  const settings = useRest<Settings>("/api/settings");
  return (
    <Page title="Settings">
      <section aria-labelledby="push-title">
        <h2 id="push-title">Notifications</h2>
        <PushSettings />
      </section>
      {may("drive") && <AwakeChoice />}
      <section aria-labelledby="file-title">
        <h2 id="file-title">Configuration</h2>
        {settings.problem !== null && <ErrorState problem={settings.problem} onRetry={settings.reload} />}
        {settings.value === null && settings.problem === null && <Spinner />}
        {settings.value !== null && <FileSettings file={settings.value} onSaved={settings.reload} />}
      </section>
    </Page>
  );
}

function FileSettings({ file, onSaved }: { readonly file: Settings; readonly onSaved: () => void }) {
  const search = useSignal("");
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  const found = file.settings.filter((setting) => words.every((word) => textOf(setting).includes(word)));
  return (
    <>
      <p class="quiet-text">
        What can be changed from a device is open to edit. What names a program, a path or a part of the gate
        is written by hand into <code>{file.path}</code>.
      </p>
      {file.problem !== null && (
        <p class="problem-text" role="alert">
          The file has a fault, and the daemon goes on with what it had: {file.problem}
        </p>
      )}
      <search>
        <TextField
          label="Search settings"
          value={search.value}
          onValue={(value) => {
            search.value = value;
          }}
          keyboard="search"
          isProse={false}
        />
      </search>
      {found.length === 0 && <EmptyState icon="search" title="No such setting" />}
      {groupSettings(found).map(({ title, settings }) => (
        <section key={title}>
          <h3>{title}</h3>
          {settings.map((setting) => (
            <SettingRow key={setting.key} setting={setting} onSaved={onSaved} />
          ))}
        </section>
      ))}
    </>
  );
}

function textOf({ key, description }: Setting): string {
  return `${key} ${description ?? ""}`.toLowerCase();
}
