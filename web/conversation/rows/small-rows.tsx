import type { ComponentChildren } from "preact";
import { review } from "../../approvals/review.ts";
import { Markdown } from "../../markdown/markdown.tsx";
import { proseText } from "../../markdown/prose-text.ts";
import { useSession } from "../../state/session.ts";
import type {
  CompactedRow,
  ErrorRow,
  PermissionRow,
  QuestionRow,
  StartRow,
  TodosRow,
  TurnRow,
} from "../../transcript/rows.ts";
import { Button } from "../../ui/button.tsx";
import { Icon } from "../../ui/icon.tsx";
import type { IconName } from "../../ui/icon-paths.ts";
import { Time } from "../../ui/time.tsx";
import { costText, durationText, tokensText, waitedText, withoutWait } from "../call-text.ts";
import { useConversation } from "../conversation-context.ts";
import { Fold } from "./fold.tsx";
import { PermissionLine } from "./tool-row.tsx";

/** A quiet line between the messages. */
export function LineRow({
  icon,
  children,
}: {
  readonly icon: IconName;
  readonly children: ComponentChildren;
}) {
  return (
    <p class="line-row">
      <Icon name={icon} />
      <span>{children}</span>
    </p>
  );
}

export function StartRowView({ row }: { readonly row: StartRow }) {
  const note = useConversation().note.value;
  const { runtime, model, cwd } = row.event;
  return (
    <>
      <LineRow icon="folder">
        {proseText(model === null ? runtime : `${runtime} with ${model}`)} in <code>{proseText(cwd)}</code>,{" "}
        <Time at={row.at} />
      </LineRow>
      {note !== null && <LineRow icon="about">{proseText(note)}</LineRow>}
    </>
  );
}

const todoMarks: Readonly<Record<string, { readonly mark: string; readonly word: string }>> = {
  pending: { mark: "☐", word: "to do" },
  in_progress: { mark: "▶", word: "in work" },
  completed: { mark: "☑", word: "done" },
  cancelled: { mark: "☒", word: "dropped" },
};

export function TodosRowView({ row }: { readonly row: TodosRow }) {
  const done = row.todos.filter(({ status }) => status === "completed").length;
  return (
    <div class="todos-row">
      <p class="todos-title">
        Plan: {done} of {row.todos.length} done
      </p>
      <ul>
        {row.todos.slice(0, 200).map((todo, index) => {
          const { mark, word } = todoMarks[todo.status] ?? { mark: "•", word: todo.status };
          return (
            <li key={index} class={todo.status}>
              <span role="img" aria-label={word}>
                {mark}
              </span>
              <span dir="auto">{proseText(todo.content)}</span>
            </li>
          );
        })}
      </ul>
    </div>
  );
}

export function QuestionRowView({ row }: { readonly row: QuestionRow }) {
  const { nameOf } = useConversation();
  const { state, questions, answers, by } = row;
  const mayAnswer = useSession().may("approve");
  return (
    <div class="question-row">
      <dl>
        {questions.map(({ prompt }, index) => (
          <div key={index}>
            <dt dir="auto">
              <Icon name="question" />
              <span>{proseText(prompt)}</span>
            </dt>
            {state === "answered" && (
              <dd dir="auto">{proseText((answers[index] ?? "").split("\n").join(", ")) || "(empty)"}</dd>
            )}
          </div>
        ))}
      </dl>
      {state === "open" ? (
        <Button kind={mayAnswer ? "primary" : "plain"} onClick={() => review(row.requestId)}>
          {mayAnswer ? "Answer" : "Show"}
        </Button>
      ) : (
        <p class="permission-line">
          <Icon name={state === "answered" ? "check" : "close"} />
          {state === "answered" ? "Answered" : "Closed without an answer"}
          {by !== null && ` by ${proseText(nameOf(by))}`}
        </p>
      )}
    </div>
  );
}

export function PermissionRowView({ row }: { readonly row: PermissionRow }) {
  const isOpen = row.outcome.allowed === null;
  return (
    <div class="question-row">
      {row.summary !== "" && (
        <p>
          <code>{proseText(row.summary)}</code>
        </p>
      )}
      <PermissionLine permission={row.outcome} />
      {isOpen && <Button onClick={() => review(row.outcome.request_id)}>Review</Button>}
    </div>
  );
}

export function ErrorRowView({ row }: { readonly row: ErrorRow }) {
  return (
    <div class="error-row" role="note">
      <Icon name="warning" />
      <p dir="auto">{proseText(row.message)}</p>
    </div>
  );
}

export function CompactedRowView({ row }: { readonly row: CompactedRow }) {
  return (
    <Fold
      foldKey={row.key}
      class="compacted"
      head={
        <>
          <Icon name="sessions" />
          <span>Summed up: from here on the agent knows this summary</span>
        </>
      }
    >
      {() => <Markdown text={row.summary} />}
    </Fold>
  );
}

/** How a turn ended. One that is simply done needs no words but what it used. */
export function TurnRowView({ row }: { readonly row: TurnRow }) {
  const { outcome, error, usage, millis, waitedMillis } = row;
  const facts = [
    outcome === "cancelled" && "Stopped",
    millis !== null && durationText(withoutWait(millis, waitedMillis)),
    waitedText(waitedMillis) ?? false,
    usage !== null && `${tokensText(usage.inputTokens)} in, ${tokensText(usage.outputTokens)} out`,
    usage !== null && usage.cost !== null && costText(usage.cost),
  ].filter((fact) => fact !== false);
  return (
    <div>
      {outcome === "failed" && (
        <div class="error-row" role="note">
          <Icon name="warning" />
          <p dir="auto">{proseText(error ?? "The turn failed.")}</p>
        </div>
      )}
      <p class="turn-facts">
        <span>
          {facts.join(" · ")}
          {facts.length > 0 && " · "}
          <Time at={row.at} />
        </span>
      </p>
    </div>
  );
}
