import type { TurnQuestion } from "../runtime.ts";
import { acpLimits } from "./acp-limits.ts";
import { listOf, objectOf, type RawObject, textOf } from "./raw-values.ts";
import type { ToolCall } from "./tool-call.ts";
import type { TurnDesk } from "./turn-desk.ts";

type AskedQuestion = TurnQuestion["questions"][number];
type AnswerValue = string | number | boolean | readonly string[];

interface FormField {
  readonly key: string;
  readonly question: AskedQuestion;
  /** The value that an answer stands for; null for an answer that is none. */
  readonly toValue: (answer: string) => AnswerValue | null;
}

/**
 * Some agents ask people by a permission request whose input holds questions. Empty for a call that holds, or may do, anything
 * beside: its answer would allow what nobody has judged.
 */
export function questionsIn({
  kind,
  input,
  changes,
}: Pick<ToolCall, "kind" | "input" | "changes">): readonly AskedQuestion[] {
  const isHarmless = (kind === "think" || kind === "other") && changes.length === 0;
  const isAlone = Object.keys(input).every((key) => key === "questions" || key === "metadata");
  return isHarmless && isAlone ? readQuestions(input.questions) : [];
}

/** Asks them; the answers go beside the outcome, by the number of the question. */
export async function askQuestions(
  call: ToolCall,
  questions: readonly AskedQuestion[],
  optionId: string | null,
  desk: TurnDesk,
): Promise<unknown> {
  await desk.calls.begin(call);
  const answer = await desk.askQuestion({ callId: call.id, subagent: null, questions });
  if (answer.cancelled || optionId === null) return { outcome: { outcome: "cancelled" } };
  return {
    outcome: { outcome: "selected", optionId },
    answers: Object.fromEntries(answer.answers.map((text, index) => [index, text.split("\n").join(", ")])),
  };
}

function readQuestions(raw: unknown): readonly AskedQuestion[] {
  return listOf(raw, 16).flatMap((each) => {
    const { question, header, options, multiSelect } = objectOf(each);
    const prompt = textOf(question, acpLimits.titleChars) ?? textOf(header, acpLimits.titleChars);
    if (prompt === null) return [];
    return [{ prompt, options: readChoices(options), multiple: multiSelect === true }];
  });
}

function readChoices(raw: unknown): AskedQuestion["options"] {
  return listOf(raw, 64).flatMap((each) => {
    const { label, description } = objectOf(each);
    const text = typeof each === "string" ? each : textOf(label, 200);
    return text === null || text === "" ? [] : [{ label: text, description: textOf(description, 1_000) }];
  });
}

/** Answers `elicitation/create`: a form becomes questions, one a field. A form that is none, or a link, is declined. */
export async function elicit(rawParams: unknown, desk: TurnDesk): Promise<unknown> {
  const params = objectOf(rawParams);
  const message = textOf(params.message, acpLimits.titleChars) ?? "";
  const schema = objectOf(params.requestedSchema);
  const fields = Object.entries(objectOf(schema.properties))
    .slice(0, 16)
    .flatMap(([key, raw]) => readField(key, objectOf(raw)));
  const isForm = params.mode === undefined || params.mode === "form";
  if (!isForm || fields.length === 0) return { action: "decline" };
  await desk.speech.finish();
  const answer = await desk.askQuestion({
    callId: null,
    subagent: null,
    questions: fields.map(({ question }, index) => ({
      ...question,
      prompt:
        index === 0 && message !== "" && message !== question.prompt
          ? `${message}\n${question.prompt}`
          : question.prompt,
    })),
  });
  if (answer.cancelled) return { action: desk.context.signal.aborted ? "cancel" : "decline" };
  const content = fields.flatMap(({ key, toValue }, index) => {
    const value = toValue(answer.answers[index] ?? "");
    return value === null ? [] : [[key, value] as const];
  });
  return { action: "accept", content: Object.fromEntries(content) };
}

function readField(key: string, raw: RawObject): FormField[] {
  const prompt =
    textOf(raw.description, acpLimits.titleChars) ?? textOf(raw.title, acpLimits.titleChars) ?? key;
  if (raw.type === "boolean")
    return [
      {
        key,
        question: { prompt, options: [plain("Yes"), plain("No")], multiple: false },
        toValue: (answer) => (answer === "" ? null : /^(y|yes|true)$/i.test(answer.trim())),
      },
    ];
  if (raw.type === "array") {
    const items = objectOf(raw.items);
    const choices = readEnum(items.anyOf ?? items.oneOf ?? items.enum);
    return [
      {
        key,
        question: { prompt, options: choices.map(({ label }) => plain(label)), multiple: true },
        toValue: (answer) =>
          answer
            .split("\n")
            .filter((line) => line !== "")
            .map((line) => valueFor(choices, line)),
      },
    ];
  }
  if (raw.type === "number" || raw.type === "integer")
    return [
      {
        key,
        question: { prompt, options: [], multiple: false },
        toValue: (answer) => {
          const value = Number(answer);
          return answer.trim() === "" || !Number.isFinite(value) ? null : value;
        },
      },
    ];
  if (raw.type !== "string") return [];
  const choices = readEnum(raw.oneOf ?? raw.enum);
  return [
    {
      key,
      question: { prompt, options: choices.map(({ label }) => plain(label)), multiple: false },
      toValue: (answer) => (answer === "" ? null : valueFor(choices, answer)),
    },
  ];
}

interface Choice {
  readonly value: string;
  readonly label: string;
}

function readEnum(raw: unknown): readonly Choice[] {
  return listOf(raw, 64).flatMap((each) => {
    if (typeof each === "string") return [{ value: each, label: each }];
    const { const: value, title } = objectOf(each);
    return typeof value === "string" ? [{ value, label: textOf(title, 200) ?? value }] : [];
  });
}

/** A person picks a label; a client may send the value, or words of its own. */
function valueFor(choices: readonly Choice[], answer: string): string {
  return choices.find(({ label }) => label === answer)?.value ?? answer;
}

function plain(label: string): { label: string; description: null } {
  return { label, description: null };
}
