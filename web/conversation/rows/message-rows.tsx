import { Markdown } from "../../markdown/markdown.tsx";
import { proseText } from "../../markdown/prose-text.ts";
import type { AssistantRow, UserRow } from "../../transcript/rows.ts";
import { Button } from "../../ui/button.tsx";
import { Icon } from "../../ui/icon.tsx";
import type { IconName } from "../../ui/icon-paths.ts";
import { useConversation } from "../conversation-context.ts";
import { Fold } from "./fold.tsx";

/** A longer prompt is folded: it was written by who reads it. */
const foldedChars = 1_200;
const foldedLines = 14;
const maxPromptChars = 100_000;

export function UserRowView({ row }: { readonly row: UserRow }) {
  const { expansions, nameOf } = useConversation();
  const isOpen = expansions.of(row.key);
  const lines = row.text.split("\n");
  const isLong = row.text.length > foldedChars || lines.length > foldedLines;
  const isFolded = isLong && isOpen.value !== true;
  const text = isFolded ? lines.slice(0, foldedLines).join("\n").slice(0, foldedChars) : row.text;
  return (
    <div class="user-row">
      <p class="user-name">{capitalised(proseText(nameOf(row.by)))}</p>
      <div class="user-text" dir="auto">
        {proseText(text.slice(0, maxPromptChars))}
        {isFolded && "…"}
      </div>
      {isLong && (
        <Button
          kind="quiet"
          onClick={() => {
            isOpen.value = isFolded;
          }}
        >
          {isFolded ? "Show all" : "Show less"}
        </Button>
      )}
      {row.attachments.length > 0 && (
        <ul class="chips" aria-label="Attached">
          {row.attachments.map(({ name, kind }, index) => (
            <li key={index} class="chip">
              <Icon name={attachmentIcon(kind)} />
              <span>{proseText(name)}</span>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

export function AssistantRowView({ row }: { readonly row: AssistantRow }) {
  const { text, thinking, isOpen } = row;
  const isThinking = isOpen && text === "";
  return (
    <div>
      {thinking !== "" && (
        <Fold
          foldKey={row.key}
          class="thinking"
          head={
            <>
              <Icon name="spark" />
              <span>{isThinking ? "Thinking…" : "Thoughts"}</span>
            </>
          }
        >
          {() => <Markdown text={thinking} isOpen={isThinking} />}
        </Fold>
      )}
      {text !== "" && <Markdown text={text} isOpen={isOpen} />}
    </div>
  );
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function attachmentIcon(kind: string): IconName {
  return kind === "image" ? "camera" : kind === "folder" ? "folder" : "file";
}
