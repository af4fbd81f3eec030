import type { PermissionRequest } from "../../src/protocol/objects.ts";
import { visibleCall } from "../ui/visible-call.ts";
import { visible } from "../ui/visible-text.ts";

/** What a card says of a call. All of its input is in one of the parts. */
export interface ShownCall {
  /** `Run this command?` */
  readonly title: string;
  /** The command line or the path first, then what else is in the input. */
  readonly parts: readonly ShownPart[];
}
export interface ShownPart {
  /** The field's name; null for the first part. */
  readonly label: string | null;
  readonly text: string;
}

const mainFields = ["command", "path", "file_path"] as const;

/** How the call is put before a person: whole, with everything that hides written out, texts in their own lines. */
export function shownCall({ tool, input, summary }: PermissionRequest): ShownCall {
  const name = visible(tool);
  if (typeof input !== "object" || input === null || Array.isArray(input))
    return { title: `Use ${name}?`, parts: [part(null, json(input) ?? summary)] };
  const fields: Record<string, unknown> = { ...input };
  const main = mainFields.find((key) => typeof fields[key] === "string");
  if (main === undefined) return { title: `Use ${name}?`, parts: [part(null, json(fields) ?? "")] };
  const subject = part(null, String(fields[main]));
  delete fields[main];
  const texts = Object.entries(fields).filter(([, value]) => isLongText(value));
  for (const [key] of texts) delete fields[key];
  const rest = Object.keys(fields).length === 0 ? [] : [part("more", json(fields) ?? "")];
  return {
    title: titleOf(main, tool),
    parts: [subject, ...texts.map(([key, value]) => part(key, String(value))), ...rest],
  };
}

function titleOf(main: (typeof mainFields)[number], tool: string): string {
  if (main === "command") return "Run this command?";
  return /edit|write|patch/i.test(tool) ? "Change this file?" : `Use ${visible(tool)} on this file?`;
}

function part(label: string | null, text: string): ShownPart {
  return { label: label === null ? null : visible(label), text: visibleCall(text) };
}

/** As JSON such a text would be one line that nobody can read. */
function isLongText(value: unknown): value is string {
  return typeof value === "string" && (value.includes("\n") || value.length > 60);
}

/** How far an answer for the session reaches: to this very line, or to what a rule with wildcards names. */
export function sessionRule(
  request: PermissionRequest,
): { readonly rule: string; readonly isExact: boolean } | null {
  if (request.allow_session === null) return null;
  const rule = visible(request.allow_session);
  const subject = shownCall(request).parts[0]?.text.trim() ?? "";
  return { rule, isExact: rule === `${visible(request.tool)}(${subject})` };
}

function json(value: unknown): string | undefined {
  return JSON.stringify(value, null, 2);
}
