import { proseText } from "../../markdown/prose-text.ts";
import type { Row } from "../../transcript/rows.ts";
import { AssistantRowView, UserRowView } from "./message-rows.tsx";
import "./rows.css";
import {
  CompactedRowView,
  ErrorRowView,
  LineRow,
  PermissionRowView,
  QuestionRowView,
  StartRowView,
  TodosRowView,
  TurnRowView,
} from "./small-rows.tsx";
import { ToolRowView } from "./tool-row.tsx";

/** One row of a conversation, in the column of the page. */
export function RowView({ row }: { readonly row: Row }) {
  return <div class="conversation-row">{viewOf(row)}</div>;
}

function viewOf(row: Row) {
  switch (row.kind) {
    case "start":
      return <StartRowView row={row} />;
    case "user":
      return <UserRowView row={row} />;
    case "assistant":
      return <AssistantRowView row={row} />;
    case "tool":
      return <ToolRowView row={row} />;
    case "permission":
      return <PermissionRowView row={row} />;
    case "question":
      return <QuestionRowView row={row} />;
    case "todos":
      return <TodosRowView row={row} />;
    case "notice":
      return <LineRow icon="about">{proseText(row.message)}</LineRow>;
    case "error":
      return <ErrorRowView row={row} />;
    case "model":
      return (
        <LineRow icon="spark">
          {row.model === null ? "The default model" : `Model ${proseText(row.model)}`} from here on
        </LineRow>
      );
    case "thinking":
      return (
        <LineRow icon="spark">Thinking: {proseText(row.level ?? "as the model does by itself")}</LineRow>
      );
    case "cleared":
      return (
        <LineRow icon="sessions">Cleared: from here on the agent knows nothing of what was said</LineRow>
      );
    case "compacted":
      return <CompactedRowView row={row} />;
    case "turn":
      return <TurnRowView row={row} />;
    case "end":
      return <LineRow icon="check">This agent has ended ({proseText(row.outcome)})</LineRow>;
  }
}
