import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";
import { classes } from "./classes.ts";
import "./field.css";
import { useRedraw } from "./use-redraw.ts";

interface FieldProps {
  readonly label: string;
  /** What to write here; always there, so that nothing jumps. */
  readonly hint?: ComponentChildren;
  /** What is wrong with it. Announced when it appears. */
  readonly problem?: string | null;
  readonly isLabelHidden?: boolean;
  /** Draws the control with what ties it to label, hint and problem. */
  readonly children: (tie: FieldTie) => ComponentChildren;
  readonly class?: string;
}
export interface FieldTie {
  readonly id: string;
  readonly "aria-describedby": string | undefined;
  readonly "aria-invalid": boolean | undefined;
}

/** A label with its control, a hint below it, and what is wrong with the value. */
export function Field({ label, hint, problem = null, isLabelHidden = false, children, ...rest }: FieldProps) {
  const id = useId();
  const describedBy = [problem && `${id}-problem`, hint && `${id}-hint`].filter(Boolean).join(" ");
  return (
    <div class={classes("field", rest.class)}>
      <label for={id} class={isLabelHidden ? "unseen" : undefined}>
        {label}
      </label>
      {children({
        id,
        "aria-describedby": describedBy || undefined,
        "aria-invalid": problem ? true : undefined,
      })}
      <p id={`${id}-problem`} class="field-problem" role="alert">
        {problem}
      </p>
      {hint && (
        <p id={`${id}-hint`} class="field-hint">
          {hint}
        </p>
      )}
    </div>
  );
}

interface TextFieldProps {
  readonly label: string;
  readonly value: string;
  readonly onValue: (value: string) => void;
  readonly hint?: ComponentChildren;
  readonly problem?: string | null;
  readonly isLabelHidden?: boolean;
  /** Which keyboard a phone shows. */
  readonly keyboard?: "text" | "search" | "numeric" | "url";
  readonly name?: string;
  readonly class?: string;
  readonly placeholder?: string;
  readonly maxLength?: number;
  readonly disabled?: boolean;
  readonly autocomplete?: "off" | "one-time-code";
  readonly autocapitalize?: "off" | "characters";
  readonly enterkeyhint?: "go" | "done" | "next" | "search" | "send";
  /** False for what is no prose: codes, paths, names of things. */
  readonly isProse?: boolean;
}

/** One line of text. */
export function TextField(props: TextFieldProps) {
  const { label, value, onValue, hint, problem = null, isLabelHidden = false, isProse = true } = props;
  return (
    <Field label={label} hint={hint} problem={problem} isLabelHidden={isLabelHidden}>
      {(tie) => (
        <input
          {...tie}
          type="text"
          inputMode={props.keyboard}
          name={props.name}
          class={props.class}
          placeholder={props.placeholder}
          maxLength={props.maxLength}
          disabled={props.disabled ?? false}
          autocomplete={props.autocomplete}
          autocapitalize={props.autocapitalize}
          autocorrect={isProse ? undefined : "off"}
          spellcheck={isProse ? undefined : false}
          enterkeyhint={props.enterkeyhint}
          value={value}
          onInput={(event) => onValue(event.currentTarget.value)}
        />
      )}
    </Field>
  );
}

interface SelectProps {
  readonly label: string;
  readonly value: string;
  readonly onValue: (value: string) => void;
  readonly options: readonly { readonly value: string; readonly label: string }[];
  readonly hint?: ComponentChildren;
  readonly disabled?: boolean;
  readonly isLabelHidden?: boolean;
}

/** One of a few; the platform's own list. Shows `value`, whatever was chosen. */
export function SelectField({
  label,
  value,
  onValue,
  options,
  hint,
  disabled = false,
  isLabelHidden = false,
}: SelectProps) {
  const redraw = useRedraw();
  return (
    <Field label={label} hint={hint} isLabelHidden={isLabelHidden}>
      {(tie) => (
        <select
          {...tie}
          value={value}
          disabled={disabled}
          onChange={(event) => {
            onValue(event.currentTarget.value);
            redraw();
          }}
        >
          {options.map((option) => (
            <option key={option.value} value={option.value}>
              {option.label}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

interface SwitchProps {
  readonly label: string;
  readonly isOn: boolean;
  readonly onChange: (isOn: boolean) => void;
  readonly hint?: ComponentChildren;
  readonly disabled?: boolean;
}

/** On or off, at once. Shows `isOn`, whatever was touched. */
export function Switch({ label, isOn, onChange, hint, disabled = false }: SwitchProps) {
  const id = useId();
  const redraw = useRedraw();
  return (
    <div class="switch">
      <span>
        <label for={id}>{label}</label>
        {hint && (
          <span id={`${id}-hint`} class="field-hint">
            {hint}
          </span>
        )}
      </span>
      <input
        id={id}
        type="checkbox"
        role="switch"
        aria-checked={isOn}
        checked={isOn}
        disabled={disabled}
        aria-describedby={hint ? `${id}-hint` : undefined}
        onChange={(event) => {
          onChange(event.currentTarget.checked);
          redraw();
        }}
      />
    </div>
  );
}
