import { useSignal } from "@preact/signals";
import { AnswerError } from "../../src/client/answer-error.ts";
import { errorText } from "../state/error-text.ts";
import { useSession } from "../state/session.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { SelectField, Switch, TextField } from "../ui/field.tsx";
import { SecretField } from "../ui/secret-field.tsx";
import {
  missingField,
  type TunnelField,
  type TunnelProvider,
  tunnelProviders,
  tunnelRequest,
} from "./tunnel-fields.ts";

interface Problem {
  /** The field that it is about; null: about none of them. */
  readonly field: string | null;
  readonly text: string;
}

/** Chooses a provider, fills its fields, and starts the tunnel; how that goes, the page behind shows. */
export function TunnelForm({ onClose }: { readonly onClose: () => void }) {
  const { rest } = useSession();
  const name = useSignal("cloudflared");
  const typed = useSignal<Readonly<Record<string, string>>>({});
  const problem = useSignal<Problem | null>(null);
  const isBusy = useSignal(false);
  const provider = tunnelProviders.find((one) => one.name === name.value);
  if (provider === undefined) return null;

  async function start(chosen: TunnelProvider): Promise<void> {
    const missing = missingField(chosen, typed.value);
    if (missing !== null) {
      problem.value = { field: missing.name, text: "This is needed." };
      return;
    }
    isBusy.value = true;
    try {
      await rest.request("POST", "/api/tunnel", tunnelRequest(chosen, typed.value));
      onClose();
    } catch (error) {
      const field = error instanceof AnswerError ? (error.body.field ?? null) : null;
      const isShown = chosen.fields.some((one) => one.name === field);
      problem.value = { field: isShown ? field : null, text: errorText(error) };
      isBusy.value = false;
    }
  }

  return (
    <Dialog title="Start a tunnel" onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void start(provider);
        }}
      >
        <SelectField
          label="By"
          value={name.value}
          onValue={(value) => {
            name.value = value;
            problem.value = null;
          }}
          options={tunnelProviders.map((one) => ({ value: one.name, label: one.title }))}
          hint={provider.meaning}
        />
        {provider.fields.map((field) => (
          <Input
            key={`${provider.name}.${field.name}`}
            field={field}
            value={typed.value[field.name] ?? ""}
            problem={problem.value?.field === field.name ? problem.value.text : null}
            onValue={(value) => {
              typed.value = { ...typed.value, [field.name]: value };
            }}
          />
        ))}
        <p role="alert" class="problem-text">
          {problem.value?.field === null ? problem.value.text : null}
        </p>
        <Button type="submit" kind="primary" isWide isBusy={isBusy.value}>
          Start
        </Button>
      </form>
    </Dialog>
  );
}

interface InputProps {
  readonly field: TunnelField;
  readonly value: string;
  readonly problem: string | null;
  readonly onValue: (value: string) => void;
}

function Input({ field, value, problem, onValue }: InputProps) {
  if (field.kind === "flag")
    return (
      <Switch
        label={field.label}
        hint={field.hint}
        isOn={value === "true"}
        onChange={(isOn) => onValue(String(isOn))}
      />
    );
  const label = field.isRequired ? field.label : `${field.label} (optional)`;
  if (field.kind === "secret")
    return <SecretField label={label} hint={field.hint} value={value} problem={problem} onValue={onValue} />;
  return (
    <TextField
      label={label}
      hint={field.hint}
      value={value}
      problem={problem}
      onValue={onValue}
      isProse={false}
      autocomplete="off"
      autocapitalize="off"
      keyboard={field.kind === "number" ? "numeric" : "text"}
    />
  );
}
