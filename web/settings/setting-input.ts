import type { Setting } from "../../src/protocol/rest-objects.ts";

/** How a value is entered; null: not on this page, whatever the caller may do. */
export type InputKind = "number" | "flag" | "text" | "lines" | null;

interface ValueSchema {
  readonly type?: unknown;
  readonly minimum?: unknown;
  readonly maximum?: unknown;
  readonly items?: unknown;
}

/** The kind of input for a setting's JSON schema. */
export function inputKind(rawSchema: unknown): InputKind {
  const { type, items } = asSchema(rawSchema);
  if (type === "integer" || type === "number") return "number";
  if (type === "boolean") return "flag";
  if (type === "string") return "text";
  if (type === "array" && asSchema(items).type === "string") return "lines";
  return null;
}

/** `from 1 to 100`, as far as the schema has bounds. */
export function rangeText(rawSchema: unknown): string {
  const { minimum, maximum } = asSchema(rawSchema);
  const from = typeof minimum === "number" ? `from ${minimum.toLocaleString()}` : "";
  const to = typeof maximum === "number" ? `to ${maximum.toLocaleString()}` : "";
  return [from, to].filter(Boolean).join(" ");
}

/** A value as it is typed. */
export function typedValue(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (Array.isArray(value)) return value.join("\n");
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

export type ReadValue =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly problem: string };

/** What was typed as a value; what the daemon judges (ranges, addresses, rules) is left to it. An empty field takes the setting out. */
export function readTyped(kind: Exclude<InputKind, null>, typed: string): ReadValue {
  const text = typed.trim();
  if (text === "") return { ok: true, value: null };
  if (kind === "flag") return { ok: true, value: text === "true" };
  if (kind === "lines")
    return {
      ok: true,
      value: text
        .split("\n")
        .map((line) => line.trim())
        .filter(Boolean),
    };
  if (kind === "text") return { ok: true, value: text };
  if (!/^-?\d{1,15}$/.test(text)) return { ok: false, problem: "Write a whole number." };
  return { ok: true, value: Number(text) };
}

/** A value that cannot be changed here, for people. */
export function shownValue({
  value,
  secret,
  present,
}: Pick<Setting, "value" | "secret" | "present">): string {
  if (secret) return present ? "set (not shown)" : "not set";
  if (value === null || value === undefined || value === "") return "not set";
  if (Array.isArray(value)) return value.length === 0 ? "none" : value.map(typedValue).join(", ");
  if (typeof value === "boolean") return value ? "yes" : "no";
  return typedValue(value);
}

function asSchema(raw: unknown): ValueSchema {
  return typeof raw === "object" && raw !== null ? raw : {};
}
