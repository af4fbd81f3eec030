import { visibleText } from "../lib/visible-text.ts";
import type { Question } from "../protocol/objects.ts";
import { inline } from "./text.ts";

/** One of an agent's questions with its options numbered; what is invisible in them is made visible. */
export function questionText(question: Question, index: number): string {
  const asked = question.questions[index];
  if (asked === undefined) return "";
  const who = question.subagent === null ? "The agent" : inline(visibleText(question.subagent));
  const lines = ["", `${who} asks: ${inline(visibleText(asked.prompt))}`];
  for (const [number, { label, description }] of asked.options.entries())
    lines.push(
      `  ${number + 1}  ${inline(visibleText(label))}${description === null ? "" : `: ${inline(visibleText(description))}`}`,
    );
  lines.push(
    asked.options.length === 0
      ? "  Type the answer, or /skip"
      : asked.multiple
        ? "  Numbers with commas between them, or words of your own, or /skip"
        : "  A number, or words of your own, or /skip",
  );
  return lines.join("\n");
}

export type ReadAnswer =
  | { readonly ok: true; readonly answer: string }
  | { readonly ok: false; readonly hint: string };

/** What a typed line answers: the labels of the numbers in it, or the words themselves. */
export function answerOfLine(question: Question, index: number, rawLine: string): ReadAnswer {
  const asked = question.questions[index];
  const line = rawLine.trim();
  if (asked === undefined || line === "")
    return { ok: false, hint: "Type an answer, or /skip to leave the question unanswered." };
  if (asked.options.length === 0 || !/^\d+(?:[\s,]+\d+)*$/.test(line)) return { ok: true, answer: line };
  const numbers = line.split(/[\s,]+/).map(Number);
  if (numbers.length > 1 && !asked.multiple) return { ok: false, hint: "One number only." };
  const labels = numbers.map((number) => asked.options[number - 1]?.label);
  if (labels.some((label) => label === undefined))
    return { ok: false, hint: `The numbers go from 1 to ${asked.options.length}.` };
  return { ok: true, answer: [...new Set(labels)].join(", ") };
}
