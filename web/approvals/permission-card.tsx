import { useSignal } from "@preact/signals";
import { AnswerError } from "../../src/client/answer-error.ts";
import type { Decision, PermissionRequest } from "../../src/protocol/objects.ts";
import { proseText } from "../markdown/prose-text.ts";
import { errorText } from "../state/error-text.ts";
import { useSession } from "../state/session.ts";
import { Button } from "../ui/button.tsx";
import { scrollable } from "../ui/scrollable.ts";
import { type ShownPart, sessionRule, shownCall } from "./call-shown.ts";
import { CardFrame, EndLine, Origin } from "./card-frame.tsx";
import type { Held } from "./held-requests.ts";

interface PermissionCardProps {
  readonly held: Held;
  readonly request: PermissionRequest;
  /** Whether a press of a button counts at this moment. */
  readonly counts: (event: MouseEvent) => boolean;
  /** False while what is shown has just moved. */
  readonly isSettled: boolean;
  readonly onAnswered: () => void;
  readonly isFirst: boolean;
}

/** Text that is shown at once; the rest has to be asked for before the call can be allowed. */
const shownAtOnceChars = 20_000;

/** A call that waits for permission: what would run, whole; where; asked by whom; and the answers. */
export function PermissionCard({
  held,
  request,
  counts,
  isSettled,
  onAnswered,
  isFirst,
}: PermissionCardProps) {
  const session = useSession();
  const problem = useSignal<string | null>(null);
  const sending = useSignal<Decision | null>(null);
  const showsAll = useSignal(false);
  const call = shownCall(request);
  const rule = sessionRule(request);
  const mayApprove = session.may("approve");
  const { parts, hidden } = cutParts(
    call.parts,
    showsAll.value ? Number.POSITIVE_INFINITY : shownAtOnceChars,
  );
  const isWhole = hidden === 0;

  const answer = async (decision: Decision, event: MouseEvent): Promise<void> => {
    if (!counts(event) || held.end !== null || sending.value !== null) return;
    sending.value = decision;
    problem.value = null;
    const { request_id, digest } = request;
    try {
      await session.client.command({ type: "approve", request_id, decision, digest });
      onAnswered();
    } catch (error) {
      problem.value =
        error instanceof AnswerError ? errorText(error) : "No reply came. The answer may not have arrived.";
    }
    sending.value = null;
  };
  const button = (decision: Decision, label: string, kind: "primary" | "plain", isWide = false) => (
    <Button
      kind={kind}
      isWide={isWide}
      isBusy={sending.value === decision}
      class={isSettled && (isWhole || decision === "deny") ? "" : "resting"}
      onClick={(event) => void (isWhole || decision === "deny" ? answer(decision, event) : undefined)}
    >
      {label}
    </Button>
  );

  return (
    <CardFrame held={held} isFirst={isFirst} title={call.title}>
      {parts.map((part, index) => (
        <CallText key={index} part={part} />
      ))}
      {!isWhole && (
        <p>
          <Button
            icon="down"
            onClick={() => {
              showsAll.value = true;
            }}
          >
            Show the other {hidden} characters
          </Button>
        </p>
      )}
      <Origin held={held} cwd={request.cwd} />
      {request.note !== undefined && <p class="request-note">{proseText(request.note)}</p>}
      {held.end === null &&
        (mayApprove ? (
          <div class="answers">
            {button("deny", "Deny", "plain")}
            {button("allow", "Allow once", "primary")}
            {rule !== null && session.may("drive") && (
              <>
                {button("allow_session", "Allow for the session", "plain", true)}
                <p class="session-rule">
                  {rule.isExact ? (
                    "For the session: exactly this, without asking again."
                  ) : (
                    <>
                      For the session: everything that <code>{rule.rule}</code> matches, without asking again.
                    </>
                  )}
                </p>
              </>
            )}
          </div>
        ) : (
          <p class="quiet-text">This device may look, but not answer.</p>
        ))}
      {problem.value !== null && (
        <p class="problem-text" role="alert">
          {problem.value}
        </p>
      )}
      <EndLine held={held} />
    </CardFrame>
  );
}

function CallText({ part }: { readonly part: ShownPart }) {
  return (
    <figure class="call-shown" aria-label={part.label ?? "What would run"}>
      {part.label !== null && <figcaption>{part.label}</figcaption>}
      <pre {...scrollable} dir="ltr">
        {part.text}
      </pre>
    </figure>
  );
}

/** The parts up to so many characters, and how many are left out. */
function cutParts(
  parts: readonly ShownPart[],
  maxChars: number,
): { readonly parts: readonly ShownPart[]; readonly hidden: number } {
  const shown: ShownPart[] = [];
  let left = maxChars;
  let hidden = 0;
  for (const part of parts) {
    const text = part.text.slice(0, left);
    hidden += part.text.length - text.length;
    left -= text.length;
    if (text !== "" || part.text === "") shown.push({ ...part, text });
  }
  return { parts: shown, hidden };
}
