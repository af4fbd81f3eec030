import type { ModelList, RuntimeRow } from "../../src/protocol/rest-objects.ts";
import { SelectField } from "../ui/field.tsx";
import { visible } from "../ui/visible-text.ts";

interface RuntimeFieldProps {
  readonly list: ModelList;
  readonly value: string;
  readonly onValue: (name: string) => void;
}

/** What can run agents here: the shell, and the coding agents of this machine, each with how it is. */
export function RuntimeField({ list, value, onValue }: RuntimeFieldProps) {
  const chosen = list.runtimes.find(({ name }) => name === value);
  return (
    <SelectField
      label="Runs"
      value={value}
      onValue={onValue}
      options={list.runtimes.map((row) => ({ value: row.name, label: optionText(row) }))}
      hint={
        chosen === undefined ? undefined : visible([chosen.message, chosen.next].filter(Boolean).join(" "))
      }
    />
  );
}

function optionText({ title, state }: RuntimeRow): string {
  const words = {
    ready: "",
    found: "",
    missing: " (not installed)",
    failed: " (did not work the last time)",
  };
  return visible(title) + words[state];
}
