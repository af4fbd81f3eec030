import { visibleText } from "../lib/visible-text.ts";
import type { Decision, PermissionRequest } from "../protocol/objects.ts";
import { inline } from "./text.ts";

/** What a key means for this request: y allow, s allow for the session where that is offered, n deny. */
export function decisionOfKey(key: string, request: PermissionRequest): Decision | null {
  switch (key.toLowerCase()) {
    case "y":
      return "allow";
    case "s":
      return request.allow_session === null ? null : "allow_session";
    case "n":
      return "deny";
    default:
      return null;
  }
}

/** The command or path whole, with what would not be seen made visible; an agent's own words come last and are marked. */
export function requestText(request: PermissionRequest): string {
  const subject = subjectOf(request.input);
  const shown = visibleText(subject ?? JSON.stringify(request.input));
  const lines = [
    "",
    `The agent asks to use ${inline(request.tool)} in ${visibleText(request.cwd)}:`,
    ...shown.split("\n").map((line) => `  | ${line}`),
  ];
  if (request.summary !== "" && request.summary !== subject)
    lines.push(`  (in the agent's own words: ${inline(visibleText(request.summary))})`);
  return lines.join("\n");
}

/** What can be answered by which key. */
export function keysText(request: PermissionRequest): string {
  const session =
    request.allow_session === null
      ? ""
      : `   s allow ${inline(visibleText(request.allow_session))} for this session`;
  return `  y allow${session}   n deny`;
}

function subjectOf(input: unknown): string | null {
  if (typeof input !== "object" || input === null) return null;
  const { command, path } = input as Record<string, unknown>;
  if (typeof command === "string") return command;
  // A path alone is the whole of an input only where nothing else is in it.
  return typeof path === "string" && Object.keys(input).length === 1 ? path : null;
}
