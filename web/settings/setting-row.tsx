import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { Setting } from "../../src/protocol/rest-objects.ts";
import { errorText } from "../state/error-text.ts";
import { useSession } from "../state/session.ts";
import { toast } from "../state/toasts.ts";
import { Button } from "../ui/button.tsx";
import { Field, Switch, TextField } from "../ui/field.tsx";
import { visible } from "../ui/visible-text.ts";
import { inputKind, rangeText, readTyped, shownValue, typedValue } from "./setting-input.ts";

interface SettingRowProps {
  readonly setting: Setting;
  readonly onSaved: () => void;
}

/** One setting: edited where this device may, shown where not. */
export function SettingRow({ setting, onSaved }: SettingRowProps) {
  const kind = setting.writable && !setting.secret ? inputKind(setting.schema) : null;
  return (
    <div class="setting">
      {kind === null ? (
        <>
          <p class="setting-name">
            <code>{setting.key}</code>
            <span class="setting-value">{visible(shownValue(setting))}</span>
          </p>
          {setting.description !== null && <p class="field-hint">{setting.description}</p>}
        </>
      ) : (
        <Editor setting={setting} kind={kind} onSaved={onSaved} />
      )}
      {setting.restart_needed && (
        <p class="field-hint">Counts when the daemon is stopped and started the next time.</p>
      )}
    </div>
  );
}

interface EditorProps extends SettingRowProps {
  readonly kind: NonNullable<ReturnType<typeof inputKind>>;
}

function Editor({ setting, kind, onSaved }: EditorProps) {
  const { rest } = useSession();
  const saved = typedValue(setting.value);
  const typed = useSignal(saved);
  const problem = useSignal<string | null>(null);
  const isBusy = useSignal(false);
  useEffect(() => {
    typed.value = saved;
  }, [saved, typed]);

  async function save(text: string): Promise<void> {
    const read = readTyped(kind, text);
    if (!read.ok) {
      problem.value = read.problem;
      return;
    }
    isBusy.value = true;
    problem.value = null;
    try {
      await rest.request("PATCH", "/api/settings", { settings: { [setting.key]: read.value } });
      toast("Saved.");
      onSaved();
    } catch (error) {
      problem.value = errorText(error);
    }
    isBusy.value = false;
  }

  if (kind === "flag")
    return (
      <>
        <Switch
          label={setting.key}
          hint={setting.description ?? undefined}
          isOn={typed.value === "true"}
          disabled={isBusy.value}
          onChange={(isOn) => void save(String(isOn))}
        />
        <p role="alert" class="problem-text">
          {problem.value}
        </p>
      </>
    );
  const isChanged = typed.value.trim() !== saved;
  return (
    <form
      class="setting-form"
      onSubmit={(event) => {
        event.preventDefault();
        void save(typed.value);
      }}
    >
      <Input
        setting={setting}
        kind={kind}
        typed={typed.value}
        problem={problem.value}
        onTyped={(text) => (typed.value = text)}
      />
      {isChanged && (
        <p class="button-row">
          <Button type="submit" kind="primary" isBusy={isBusy.value}>
            Save
          </Button>
          <Button kind="quiet" onClick={() => (typed.value = saved)}>
            Undo
          </Button>
        </p>
      )}
    </form>
  );
}

interface InputProps {
  readonly setting: Setting;
  readonly kind: EditorProps["kind"];
  readonly typed: string;
  readonly problem: string | null;
  readonly onTyped: (text: string) => void;
}

function Input({ setting, kind, typed, problem, onTyped }: InputProps) {
  const hint = [
    setting.description?.replace(/\.+$/, ""),
    firstUpper(rangeText(setting.schema)),
    `Default: ${shownValue({ ...setting, value: setting.default })}`,
  ]
    .filter(Boolean)
    .join(". ");
  if (kind === "lines")
    return (
      <Field label={setting.key} hint={`${hint}. One a line`} problem={problem}>
        {(tie) => (
          <textarea
            {...tie}
            rows={3}
            spellcheck={false}
            value={typed}
            onInput={(event) => onTyped(event.currentTarget.value)}
          />
        )}
      </Field>
    );
  return (
    <TextField
      label={setting.key}
      hint={hint}
      value={typed}
      problem={problem}
      onValue={onTyped}
      keyboard={kind === "number" ? "numeric" : "text"}
      isProse={false}
      autocapitalize="off"
      enterkeyhint="done"
    />
  );
}

function firstUpper(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
