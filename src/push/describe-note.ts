import { visibleText } from "../lib/visible-text.ts";
import type { PushNotification } from "../protocol/push.ts";
import type { Note } from "./notes.ts";

export interface NotePlace {
  readonly tab_name: string | null;
  readonly agent_name: string | null;
}

/** What a system shows of a notification's text is less; longer ones are cut. */
const maxTextChars = 300;
/** A call that is longer is not shown whole everywhere, and what is not seen whole is not allowed with a tap. */
const maxAllowChars = 160;

/** The texts of a note for a device that may see it. */
export function describeNote(
  note: Note,
  context: { readonly place: NotePlace; readonly mayApprove: boolean; readonly text: string | null },
): PushNotification {
  const { tag, workspace, tab } = note;
  const { tab_name, agent_name } = context.place;
  const common = { tag, workspace, tab, tab_name: cutOrNull(tab_name), agent_name: cutOrNull(agent_name) };
  if (note.kind === "turn") {
    const { agent, turn, outcome } = note;
    return { kind: "turn", ...common, agent, turn, outcome, text: cutOrNull(note.error ?? context.text) };
  }
  const { event } = note;
  if (event.type === "question_asked")
    return {
      kind: "question",
      ...common,
      agent: event.agent,
      request_id: event.request_id,
      prompts: event.questions.slice(0, 3).map(({ prompt }) => cut(prompt)),
    };
  return {
    kind: "permission",
    ...common,
    agent: event.agent,
    request_id: event.request_id,
    tool: event.tool,
    summary: cut(event.summary),
    cwd: cut(event.cwd),
    digest: event.digest,
    decisions: context.mayApprove ? decisionsFor(event) : [],
  };
}

/** `deny` always; `allow` only for a call of which a notification shows everything that runs. */
export function decisionsFor(request: {
  readonly tool: string;
  readonly summary: string;
  readonly input: unknown;
}): ("allow" | "deny")[] {
  const { summary, input } = request;
  const fields = typeof input === "object" && input !== null ? Object.values(input) : [];
  const isWhole = fields.length === 1 && fields[0] === summary && summary.length <= maxAllowChars;
  return isWhole ? ["allow", "deny"] : ["deny"];
}

function cutOrNull(text: string | null): string | null {
  return text === null ? null : cut(text);
}

/** Whole characters, the hidden ones made visible. */
function cut(rawText: string): string {
  const text = visibleText(rawText.slice(0, maxTextChars * 2 + 1));
  const characters = Array.from(text.slice(0, maxTextChars * 2));
  return characters.length > maxTextChars || text.length > maxTextChars * 2
    ? `${characters.slice(0, maxTextChars - 1).join("")}…`
    : text;
}
