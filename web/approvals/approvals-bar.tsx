import { useSignalEffect } from "@preact/signals";
import { createPortal } from "preact";
import { useRef } from "preact/hooks";
import { proseText } from "../markdown/prose-text.ts";
import { announce } from "../state/announcer.ts";
import { path } from "../state/router.ts";
import { useSession } from "../state/session.ts";
import { classes } from "../ui/classes.ts";
import { Icon } from "../ui/icon.tsx";
import "./approvals-bar.css";
import { ApprovalsSheet } from "./approvals-sheet.tsx";
import { type Waiting, waitingOf } from "./held-requests.ts";
import { review } from "./review.ts";

/** On a narrow window, above the navigation of every page: what waits, and the way to answer it. */
export function ApprovalsBar() {
  const session = useSession();
  useAnnouncedRequests();
  const waiting = waitingOf(session.pending.value, session.questions.value);
  const [first] = waiting;
  return (
    <>
      {first !== undefined && !path.value.startsWith("/approvals") && (
        <Bar first={first} count={waiting.length} />
      )}
      {/* Not in here: on a wide window the bar is hidden, and all that is in it. */}
      {createPortal(<ApprovalsSheet />, document.body)}
    </>
  );
}

function Bar({ first, count }: { readonly first: Waiting; readonly count: number }) {
  return (
    <button type="button" class="approvals-bar" onClick={() => review(first.request.request_id)}>
      <Icon name={first.kind === "permission" ? "approve" : "question"} />
      <span class="approvals-bar-words">
        <span>{count === 1 ? "Waits for you" : `${count} wait for you`}</span>
        <span class={classes("approvals-bar-what", first.kind === "permission" && "code")}>
          {gistOf(first)}
        </span>
      </span>
      <span class="approvals-bar-open">Review</span>
    </button>
  );
}

function gistOf(waiting: Waiting): string {
  if (waiting.kind === "question")
    return proseText(oneLine(waiting.request.questions[0]?.prompt ?? "A question"));
  const { tool, summary } = waiting.request;
  return proseText(oneLine(`${tool}: ${summary}`));
}

/** Tells a screen reader at once of what is new. */
function useAnnouncedRequests(): void {
  const session = useSession();
  const known = useRef<ReadonlySet<string>>(new Set());
  useSignalEffect(() => {
    const waiting = waitingOf(session.pending.value, session.questions.value);
    const isNew = waiting.filter(({ request }) => !known.current.has(request.request_id));
    known.current = new Set(waiting.map(({ request }) => request.request_id));
    const last = isNew.at(-1);
    if (last === undefined) return;
    const what = last.kind === "permission" ? "Permission asked for" : "Question";
    announce(`${what}: ${gistOf(last)}`, "urgent");
  });
}

function oneLine(text: string): string {
  return text.slice(0, 300).replace(/\s+/g, " ");
}
