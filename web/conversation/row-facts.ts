import { proseText } from "../markdown/prose-text.ts";
import type { Row } from "../transcript/rows.ts";

/** The height of a row before it was drawn, in pixels: near enough that the scroll bar does not jump. */
export function estimateRow(row: Row): number {
  switch (row.kind) {
    case "user":
      return 76 + 24 * Math.min(14, linesOf(row.text));
    case "assistant":
      return 24 + (row.thinking === "" ? 0 : 48) + 25 * Math.min(400, linesOf(row.text));
    case "tool":
      return row.result === null || row.result.isError || row.result.diff !== null ? 240 : 60;
    case "todos":
      return 60 + 28 * row.todos.length;
    case "question":
      return 70 + 60 * row.questions.length;
    case "turn":
      return row.outcome === "failed" ? 110 : 44;
    default:
      return 44;
  }
}

const charsPerLine = 60;
const maxLabelChars = 200;

function linesOf(text: string): number {
  const newLines = text.length > 20_000 ? text.length / 40 : text.split("\n").length;
  return Math.max(newLines, Math.ceil(text.length / charsPerLine));
}

/** What a screen reader says of a row as a whole; its contents follow. */
export function labelOfRow(row: Row): string {
  switch (row.kind) {
    case "user":
      return `Prompt by ${cut(row.by.name)}`;
    case "assistant":
      return row.isOpen ? "The agent is answering" : "Answer of the agent";
    case "tool":
      return `Call of ${cut(row.tool)}: ${cut(row.summary)}`;
    case "permission":
      return "Permission request";
    case "question":
      return "Question of the agent";
    case "todos":
      return "Plan of the agent";
    case "error":
      return "Error";
    case "turn":
      return "End of the turn";
    default:
      return "Note";
  }
}

function cut(text: string): string {
  return proseText(text.slice(0, maxLabelChars).replace(/\s+/g, " "));
}

/** What is said aloud when a row has come; null for what needs no ear. */
export function announcementOf(row: Row): string | null {
  switch (row.kind) {
    case "assistant":
      return row.isOpen || row.text === "" ? null : cut(row.text);
    case "error":
      return `Error: ${cut(row.message)}`;
    case "turn":
      return row.outcome === "done"
        ? "The agent is done."
        : row.outcome === "cancelled"
          ? "Stopped."
          : `Failed: ${cut(row.error ?? "")}`;
    default:
      return null;
  }
}
