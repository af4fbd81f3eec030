import { useEffect, useRef } from "preact/hooks";
import { proseText } from "../../markdown/prose-text.ts";
import type { Suggestion } from "./suggest.ts";

interface SuggestionListProps {
  readonly id: string;
  readonly list: readonly Suggestion[];
  readonly chosen: number;
  readonly onTake: (suggestion: Suggestion) => void;
}

/** What could stand at the caret, above the text; the focus stays in the text. */
export function SuggestionList({ id, list, chosen, onTake }: SuggestionListProps) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    box.current?.children[chosen]?.scrollIntoView({ block: "nearest" });
  }, [chosen]);
  if (list.length === 0) return null;
  return (
    <div ref={box} id={id} class="suggestions" role="listbox" aria-label="Suggestions" tabIndex={-1}>
      {list.map((suggestion, index) => (
        <div
          key={suggestion.label}
          id={`${id}-${index}`}
          role="option"
          tabIndex={-1}
          aria-selected={index === chosen}
          class="suggestion"
          // Before the text loses the focus, and with it the list.
          onPointerDown={(event) => event.preventDefault()}
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => onTake(suggestion)}
          onKeyDown={() => undefined}
        >
          <span class="suggestion-label">{proseText(suggestion.label)}</span>
          {suggestion.detail !== "" && <span class="suggestion-detail">{proseText(suggestion.detail)}</span>}
        </div>
      ))}
    </div>
  );
}
