import type { PermissionRequest } from "../../src/protocol/objects.ts";
import { visibleCall } from "../ui/visible-call.ts";
import { visible } from "../ui/visible-text.ts";

/** What a card says of a call. All of its input is in one of the parts. */
export interface ShownCall {
  /** `Run this command?` */
  readonly title: string;
  /** The command line, the path, or all of the input. */
  readonly subject: string;
  /** What else is in the input, as JSON; empty where nothing is. */
  readonly rest: string;
}

/** How the call is put before a person: whole, with everything that hides written out. */
export function shownCall({ tool, input, summary }: PermissionRequest): ShownCall {
  const name = visible(tool);
  if (typeof input !== "object" || input === null || Array.isArray(input))
    return { title: `Use ${name}?`, subject: visibleCall(json(input) ?? summary), rest: "" };
  const fields: Record<string, unknown> = { ...input };
  const main = ["command", "path", "file_path"].find((key) => typeof fields[key] === "string");
  if (main === undefined)
    return { title: `Use ${name}?`, subject: visibleCall(json(fields) ?? ""), rest: "" };
  const subject = visibleCall(String(fields[main]));
  delete fields[main];
  const rest = Object.keys(fields).length === 0 ? "" : visibleCall(json(fields) ?? "");
  const title =
    main === "command"
      ? "Run this command?"
      : /edit|write|patch/i.test(tool)
        ? "Change this file?"
        : `Use ${name} on this file?`;
  return { title, subject, rest };
}

/** How far an answer for the session reaches: to this very line, or to what a rule with wildcards names. */
export function sessionRule(
  request: PermissionRequest,
): { readonly rule: string; readonly isExact: boolean } | null {
  if (request.allow_session === null) return null;
  const rule = visible(request.allow_session);
  const { subject } = shownCall(request);
  return { rule, isExact: rule === `${visible(request.tool)}(${subject.trim()})` };
}

function json(value: unknown): string | undefined {
  return JSON.stringify(value, null, 2);
}
