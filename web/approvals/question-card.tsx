import { useSignal } from "@preact/signals";
import { useId } from "preact/hooks";
import { AnswerError } from "../../src/client/answer-error.ts";
import type { Question } from "../../src/protocol/objects.ts";
import { proseText } from "../markdown/prose-text.ts";
import { errorText } from "../state/error-text.ts";
import { useSession } from "../state/session.ts";
import { Button } from "../ui/button.tsx";
import { CardFrame, EndLine, Origin } from "./card-frame.tsx";
import type { Held } from "./held-requests.ts";
import { answersOf, draftOf, withOption, withText } from "./question-draft.ts";

interface QuestionCardProps {
  readonly held: Held;
  readonly request: Question;
  readonly counts: (event: MouseEvent) => boolean;
  readonly isSettled: boolean;
  readonly onAnswered: () => void;
  readonly isFirst: boolean;
}

const maxAnswerChars = 64 * 1024;

/** A question of an agent: its parts with their options, and room for words of one's own. */
export function QuestionCard({ held, request, counts, isSettled, onAnswered, isFirst }: QuestionCardProps) {
  const session = useSession();
  const draft = draftOf(request);
  const problem = useSignal<string | null>(null);
  const isSending = useSignal(false);
  const mayAnswer = session.may("approve") && held.end === null;

  const send = async (event: MouseEvent, isCancel: boolean): Promise<void> => {
    if (!counts(event) || isSending.value || held.end !== null) return;
    const answers = answersOf(request, draft.value);
    const missing = answers.indexOf(null);
    if (!isCancel && missing !== -1) {
      problem.value =
        answers.length === 1
          ? "Choose an answer, or write one."
          : `Question ${missing + 1} has no answer yet.`;
      return;
    }
    isSending.value = true;
    problem.value = null;
    const { request_id } = request;
    try {
      await session.client.command(
        isCancel
          ? { type: "answer", request_id, cancelled: true }
          : { type: "answer", request_id, answers: answers.map((answer) => answer ?? "") },
      );
      onAnswered();
    } catch (error) {
      problem.value =
        error instanceof AnswerError ? errorText(error) : "No reply came. The answer may not have arrived.";
    }
    isSending.value = false;
  };

  return (
    <CardFrame
      held={held}
      isFirst={isFirst}
      title={request.questions.length === 1 ? "A question for you" : "Questions for you"}
    >
      {request.questions.map((_, index) => (
        <QuestionPart key={index} request={request} index={index} isDisabled={!mayAnswer} />
      ))}
      <Origin held={held} cwd={null} />
      {held.end === null &&
        (session.may("approve") ? (
          <div class="answers in-sight">
            <Button class={isSettled ? "" : "resting"} onClick={(event) => void send(event, true)}>
              No answer
            </Button>
            <Button
              kind="primary"
              isBusy={isSending.value}
              class={isSettled ? "" : "resting"}
              onClick={(event) => void send(event, false)}
            >
              Answer
            </Button>
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

interface QuestionPartProps {
  readonly request: Question;
  readonly index: number;
  readonly isDisabled: boolean;
}

function QuestionPart({ request, index, isDisabled }: QuestionPartProps) {
  const id = useId();
  const draft = draftOf(request);
  const part = request.questions[index];
  const { chosen, text } = draft.value[index] ?? { chosen: [], text: "" };
  if (part === undefined) return null;
  const { prompt, options, multiple } = part;
  return (
    <fieldset class="question-part" disabled={isDisabled}>
      <legend dir="auto">
        {proseText(prompt)}
        {multiple && <small> Several may be chosen.</small>}
      </legend>
      {options.map(({ label, description }) => (
        <label key={label} class="option">
          <input
            type={multiple ? "checkbox" : "radio"}
            name={id}
            checked={chosen.includes(label)}
            onChange={() => {
              draft.value = withOption(draft.value, index, label, multiple);
            }}
          />
          <span>
            <span dir="auto">{proseText(label)}</span>
            {description !== null && <small dir="auto">{proseText(description)}</small>}
          </span>
        </label>
      ))}
      <label class="own-answer">
        <span class={options.length === 0 ? "unseen" : undefined}>
          {options.length === 0 ? "Your answer" : "Something else"}
        </span>
        <textarea
          rows={options.length === 0 ? 3 : 1}
          maxLength={maxAnswerChars}
          value={text}
          onInput={(event) => {
            draft.value = withText(draft.value, index, event.currentTarget.value, multiple);
          }}
        />
      </label>
    </fieldset>
  );
}
