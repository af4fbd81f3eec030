import { type Signal, signal } from "@preact/signals";
import type { Question } from "../../src/protocol/objects.ts";

/** What was chosen and written for one part of a question. */
export interface PartDraft {
  readonly chosen: readonly string[];
  readonly text: string;
}
export type QuestionDraft = readonly PartDraft[];

const drafts = new Map<string, Signal<QuestionDraft>>();
const maxDrafts = 50;

/** The draft of an answer: one for all places that show the question. */
export function draftOf(question: Question): Signal<QuestionDraft> {
  const known = drafts.get(question.request_id);
  if (known !== undefined) return known;
  const draft = signal<QuestionDraft>(question.questions.map(() => ({ chosen: [], text: "" })));
  drafts.set(question.request_id, draft);
  const [oldest] = drafts.keys();
  if (drafts.size > maxDrafts && oldest !== undefined) drafts.delete(oldest);
  return draft;
}

/** The draft after an option was touched. Of a part that takes one answer, choosing one drops the others and the text. */
export function withOption(
  draft: QuestionDraft,
  part: number,
  label: string,
  isMultiple: boolean,
): QuestionDraft {
  return changePart(draft, part, ({ chosen, text }) => {
    if (!isMultiple) return { chosen: [label], text: "" };
    const without = chosen.filter((other) => other !== label);
    return { chosen: without.length < chosen.length ? without : [...chosen, label], text };
  });
}

/** The draft after something was written. Of a part that takes one answer, words of one's own drop the option. */
export function withText(
  draft: QuestionDraft,
  part: number,
  text: string,
  isMultiple: boolean,
): QuestionDraft {
  return changePart(draft, part, ({ chosen }) => ({
    chosen: isMultiple || text === "" ? chosen : [],
    text,
  }));
}

/** One text for each part, in their order, as `answer` takes them; null where a part has none. */
export function answersOf(question: Question, draft: QuestionDraft): readonly (string | null)[] {
  return question.questions.map(({ options, multiple }, index) => {
    const { chosen, text } = draft[index] ?? { chosen: [], text: "" };
    // In the order in which they stand there, whatever the order of choosing.
    const labels = options.map(({ label }) => label).filter((label) => chosen.includes(label));
    const own = text.trim();
    if (!multiple) return own !== "" ? own : (labels[0] ?? null);
    const all = own === "" ? labels : [...labels, own];
    return all.length === 0 ? null : all.join("\n");
  });
}

function changePart(
  draft: QuestionDraft,
  part: number,
  change: (before: PartDraft) => PartDraft,
): QuestionDraft {
  return draft.map((before, index) => (index === part ? change(before) : before));
}
