import type { ModelList, RuntimeRow } from "../../src/protocol/rest-objects.ts";
import { SelectField } from "../ui/field.tsx";
import { visible } from "../ui/visible-text.ts";
import "./runtime-field.css";

interface RuntimeFieldProps {
  readonly list: ModelList;
  readonly value: string;
  readonly onValue: (name: string) => void;
}

/** What can run agents here: the shell, and the coding agents of this machine, each with how it is. */
export function RuntimeField({ list, value, onValue }: RuntimeFieldProps) {
  const chosen = list.runtimes.find(({ name }) => name === value);
  // Said once, and on demand: it is long, and most have come for something else.
  const next = chosen?.next === list.add_agent ? null : chosen?.next;
  return (
    <>
      <SelectField
        label="Runs"
        value={value}
        onValue={onValue}
        options={list.runtimes.map((row) => ({ value: row.name, label: optionText(row) }))}
        hint={chosen === undefined ? undefined : visible([chosen.message, next].filter(Boolean).join(" "))}
      />
      {list.add_agent !== null && (
        <details class="add-agent">
          <summary>How to add a coding agent</summary>
          <p>{visible(list.add_agent)}</p>
        </details>
      )}
    </>
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
