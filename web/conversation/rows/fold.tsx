import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";
import { Icon } from "../../ui/icon.tsx";
import { useConversation } from "../conversation-context.ts";

interface FoldProps {
  /** Under which the reader's choice is kept. */
  readonly foldKey: string;
  readonly head: ComponentChildren;
  readonly isOpenAtFirst?: boolean;
  readonly class?: string;
  /** Drawn when it is open. */
  readonly children: () => ComponentChildren;
}

/** A line that opens and closes what belongs to it; the choice stays while the row scrolls out of the page. */
export function Fold({ foldKey, head, isOpenAtFirst = false, class: name, children }: FoldProps) {
  const choice = useConversation().expansions.of(foldKey);
  const isOpen = choice.value ?? isOpenAtFirst;
  const id = useId();
  return (
    <div class={name}>
      <button
        type="button"
        class="fold-head"
        aria-expanded={isOpen}
        aria-controls={isOpen ? id : undefined}
        onClick={() => {
          choice.value = !isOpen;
        }}
      >
        {head}
        <Icon name={isOpen ? "up" : "down"} />
      </button>
      {isOpen && (
        <div id={id} class="fold-body">
          {children()}
        </div>
      )}
    </div>
  );
}
