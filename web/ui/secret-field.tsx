import type { ComponentChildren } from "preact";
import { Field } from "./field.tsx";

interface SecretFieldProps {
  readonly label: string;
  readonly value: string;
  readonly onValue: (value: string) => void;
  readonly hint?: ComponentChildren;
  readonly problem?: string | null;
}

/** One line that is shown as dots and offered to no password manager: a token of some service. */
export function SecretField({ label, value, onValue, hint, problem = null }: SecretFieldProps) {
  return (
    <Field label={label} hint={hint} problem={problem}>
      {(tie) => (
        <input
          {...tie}
          type="password"
          autocomplete="off"
          spellcheck={false}
          value={value}
          onInput={(event) => onValue(event.currentTarget.value)}
        />
      )}
    </Field>
  );
}
