import { SallyportError } from "../../errors.ts";
import { newId } from "../../lib/ids.ts";
import type { CommandOf } from "../../protocol/commands.ts";
import type { Question } from "../../protocol/objects.ts";
import type { Actor } from "../actor.ts";
import { createOpenRequests, type OpenOptions } from "./open-requests.ts";

export interface QuestionAnswer {
  readonly answers: readonly string[];
  readonly cancelled: boolean;
}
export type QuestionToAsk = Omit<Question, "request_id" | "at">;

export interface Questions {
  /** Asks every client. A question that ended unanswered counts as cancelled. */
  ask(
    question: QuestionToAsk,
    options: Pick<OpenOptions<QuestionAnswer>, "record" | "signal" | "onChange">,
  ): Promise<QuestionAnswer>;
  /**
   * `cancelled` closes the question and ends nothing else. Without it there is one answer for each question. Throws
   * `not_found`, `conflict` (already_resolved, turn_over), `invalid_field`, `disk_full`.
   */
  answer(command: CommandOf<"answer">, actor: Actor): Promise<void>;
  /** Ends what the turn still asks, unanswered. */
  endTurn(turn: string): Promise<void>;
  list(): readonly Question[];
}

/** As permissions: in memory, written by whoever asks. `now` is epoch milliseconds. */
export function createQuestions(options: { readonly now: () => number }): Questions {
  const requests = createOpenRequests<Question, QuestionAnswer>();

  return {
    async ask(question, rest) {
      const view: Question = {
        ...question,
        request_id: newId(),
        at: new Date(options.now()).toISOString(),
      };
      const { answer } = await requests.ask(view, {
        ...rest,
        asked: { type: "question_asked", ...view },
        resolved: (settled) => ({
          type: "question_resolved",
          request_id: view.request_id,
          cancelled: settled.answer === null || settled.answer.cancelled,
          by: settled.by,
          ...(settled.answer === null || settled.answer.cancelled
            ? {}
            : { answers: [...settled.answer.answers] }),
        }),
      });
      return answer ?? { answers: [], cancelled: true };
    },
    answer({ request_id, answers, cancelled = false }, actor) {
      return requests.answer(request_id, actor, (view) => {
        if (cancelled) return { answers: [], cancelled };
        if (answers?.length !== view.questions.length)
          throw new SallyportError(
            "invalid_field",
            `Give one answer for each question (${view.questions.length}), or close it with "cancelled": true.`,
            { field: "answers" },
          );
        return { answers, cancelled };
      });
    },
    endTurn: (turn) => requests.withdraw((view) => view.turn === turn),
    list: () => requests.list(),
  };
}
