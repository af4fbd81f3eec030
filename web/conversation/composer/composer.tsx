import { useSignal } from "@preact/signals";
import { useId, useLayoutEffect, useRef } from "preact/hooks";
import type { Agent, TabWithAgents } from "../../../src/protocol/objects.ts";
import { announce } from "../../state/announcer.ts";
import { useSession } from "../../state/session.ts";
import { toast } from "../../state/toasts.ts";
import { Button, IconButton } from "../../ui/button.tsx";
import { useIsShell } from "../use-runtime.ts";
import { AttachButton } from "./attach-button.tsx";
import { AttachedList } from "./attached-list.tsx";
import "./composer.css";
import { clearDraft, draftOf } from "./drafts.ts";
import { maxImages, maxTotalBytes, readImage } from "./images.ts";
import { type Suggestion, withSuggestion } from "./suggest.ts";
import { SuggestionList } from "./suggestion-list.tsx";
import { useSuggestions } from "./use-suggestions.ts";

interface ComposerProps {
  readonly agent: Agent;
  readonly tab: TabWithAgents | null;
  /** The prompt was handed over: show the end. */
  readonly onSent: () => void;
}

const maxPromptChars = 1024 * 1024;
const maxAttachments = 64;
/** A device with a keyboard of its own sends by Enter; on a phone Enter is a new line, and the button sends. */
const hasKeyboard = (): boolean => matchMedia("(hover: hover) and (pointer: fine)").matches;

/** Where a prompt is written: many lines, commands and paths completed, pictures and files attached, sent or reserved. */
export function Composer({ agent, tab, onSent }: ComposerProps) {
  const session = useSession();
  const draft = draftOf(agent.id);
  const input = useRef<HTMLTextAreaElement>(null);
  const caret = useSignal(0);
  const placed = useSignal<{ readonly caret: number } | null>(null);
  const chosen = useSignal(0);
  const isClosed = useSignal(false);
  const listId = useId();
  const text = draft.text.value;
  const suggestions = useSuggestions(text, caret.value, tab);
  const list = isClosed.value ? [] : suggestions.list;
  const isBusy = agent.state === "running" || agent.state === "waiting";
  const isEmpty = text.trim() === "" && draft.images.value.length === 0;
  const isShell = useIsShell(agent.runtime);
  const takesAttachments = !isShell;

  // With the list and not a frame later: a key pressed in between would choose nothing.
  useLayoutEffect(() => {
    chosen.value = 0;
    if (list.length > 0) announce(`${list.length} suggestions`);
  }, [list, chosen]);

  // With the text and not a frame later: a key pressed in between would be written where the caret was.
  useLayoutEffect(() => {
    if (placed.value === null) return;
    input.current?.focus();
    input.current?.setSelectionRange(placed.value.caret, placed.value.caret);
  }, [placed.value]);
  const placeCaret = (at: number): void => {
    caret.value = at;
    placed.value = { caret: at };
  };

  const addImages = async (files: readonly File[]): Promise<void> => {
    for (const file of files) {
      const total = draft.images.peek().reduce((sum, { bytes }) => sum + bytes, 0);
      try {
        if (draft.images.peek().length >= maxImages)
          throw new Error(`At most ${maxImages} pictures go along with a prompt.`);
        const image = await readImage(file);
        if (total + image.bytes > maxTotalBytes) throw new Error("These pictures are too large together.");
        draft.images.value = [...draft.images.peek(), image];
      } catch (error) {
        toast(error instanceof Error ? error.message : "This picture cannot be read.", { kind: "problem" });
      }
    }
  };
  const take = (suggestion: Suggestion): void => {
    const { completion } = suggestions;
    const element = input.current;
    if (completion === null || element === null) return;
    const next = withSuggestion(text, element.selectionStart, completion, suggestion);
    draft.text.value = next.text;
    const { attach } = suggestion;
    if (attach !== null && takesAttachments && !draft.attachments.peek().includes(attach))
      draft.attachments.value = [...draft.attachments.peek(), attach].slice(0, maxAttachments);
    placeCaret(next.caret);
  };
  const send = (): void => {
    if (isEmpty || text.length > maxPromptChars) return;
    const images = draft.images.peek().map(({ name, mime, data }) => ({ name, mime, data }));
    const attachments = draft.attachments.peek().map((path) => ({ path }));
    const prompt = {
      agent: agent.id,
      text,
      queue: true,
      ...(images.length > 0 && { images }),
      ...(attachments.length > 0 && { attachments }),
    };
    for (const { url } of draft.images.peek()) URL.revokeObjectURL(url);
    clearDraft(draft);
    // A refusal stays in the outbox with its reason and its text, and is shown below the conversation.
    session.outbox.send(prompt).catch(() => undefined);
    onSent();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.isComposing) return;
    if (list.length > 0 && onListKey(event)) return;
    const isSend =
      event.key === "Enter" && !event.shiftKey && (event.ctrlKey || event.metaKey || hasKeyboard());
    if (!isSend) return;
    event.preventDefault();
    send();
  };
  const onListKey = (event: KeyboardEvent): boolean => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    const current = list[chosen.value];
    if (step !== 0) chosen.value = (chosen.value + step + list.length) % list.length;
    else if (event.key === "Escape") isClosed.value = true;
    else if ((event.key === "Enter" || event.key === "Tab") && !event.shiftKey && current !== undefined)
      take(current);
    else return false;
    event.preventDefault();
    event.stopPropagation();
    return true;
  };
  const noteCaret = (): void => {
    caret.value = input.current?.selectionStart ?? 0;
  };

  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
      onDragOver={(event) => {
        if (takesAttachments && event.dataTransfer?.types.includes("Files")) event.preventDefault();
      }}
      onDrop={(event) => {
        if (!takesAttachments || !event.dataTransfer?.files.length) return;
        event.preventDefault();
        void addImages([...event.dataTransfer.files]);
      }}
    >
      <SuggestionList id={listId} list={list} chosen={chosen.value} onTake={take} />
      <AttachedList draft={draft} />
      <div class="composer-line">
        {takesAttachments && (
          <AttachButton
            onFiles={(files) => void addImages(files)}
            onPath={() => {
              const element = input.current;
              if (element === null) return;
              const at = element.selectionStart;
              const gap = at === 0 || /\s$/.test(text.slice(0, at)) ? "" : " ";
              draft.text.value = `${text.slice(0, at)}${gap}@${text.slice(at)}`;
              placeCaret(at + gap.length + 1);
            }}
          />
        )}
        <textarea
          ref={input}
          rows={1}
          class="composer-text"
          aria-label={isShell ? "Command" : "Prompt"}
          aria-autocomplete="list"
          aria-controls={list.length > 0 ? listId : undefined}
          aria-activedescendant={list.length > 0 ? `${listId}-${chosen.value}` : undefined}
          placeholder={isShell ? "A command line" : "Ask for something"}
          maxLength={maxPromptChars}
          enterkeyhint={hasKeyboard() ? "send" : "enter"}
          autocapitalize={isShell ? "off" : undefined}
          autocorrect={isShell ? "off" : undefined}
          spellcheck={isShell ? false : undefined}
          value={text}
          onInput={(event) => {
            draft.text.value = event.currentTarget.value;
            isClosed.value = false;
            noteCaret();
          }}
          onKeyDown={onKeyDown}
          onKeyUp={noteCaret}
          onClick={noteCaret}
          onBlur={() => {
            isClosed.value = true;
          }}
          onPaste={(event) => {
            const files = [...(event.clipboardData?.files ?? [])].filter(({ type }) =>
              type.startsWith("image/"),
            );
            if (files.length === 0 || !takesAttachments) return;
            event.preventDefault();
            void addImages(files);
          }}
        />
        {isBusy && (
          <IconButton
            icon="stop"
            label="Stop this turn"
            class="composer-stop"
            onClick={() => void session.act({ type: "cancel", agent: agent.id })}
          />
        )}
        {isBusy && !isEmpty ? (
          <Button kind="primary" type="submit" icon="send" disabled={agent.queued}>
            Queue
          </Button>
        ) : (
          <IconButton icon="send" label="Send" type="submit" kind="primary" disabled={isEmpty} />
        )}
      </div>
      {agent.queued && <p class="composer-note">One prompt waits for the end of this turn.</p>}
    </form>
  );
}
