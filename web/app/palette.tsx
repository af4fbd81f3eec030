import { useComputed, useSignal } from "@preact/signals";
import { useEffect, useId, useRef } from "preact/hooks";
import { type Action, actions } from "../state/actions.ts";
import { classes } from "../ui/classes.ts";
import { Dialog } from "../ui/dialog.tsx";
import { KeyNames } from "./key-names.tsx";
import { searchActions } from "./search-actions.ts";
import "./palette.css";

const maxShown = 50;

/** Everything that can be done here, found by typing (WAI-ARIA combobox with a list). */
export function Palette({ onClose }: { readonly onClose: () => void }) {
  const text = useSignal("");
  const chosen = useSignal(0);
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const found = useComputed(() =>
    searchActions(
      actions.value.filter(({ inPalette }) => inPalette !== false),
      text.value,
    ).slice(0, maxShown),
  ).value;
  const at = Math.min(chosen.value, found.length - 1);

  useEffect(() => {
    list.current?.children[at]?.scrollIntoView({ block: "nearest" });
  }, [at]);

  const run = (action: Action | undefined): void => {
    if (action === undefined) return;
    onClose();
    // The dialog gives the focus back first; the action may move it.
    setTimeout(action.run);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step !== 0 && found.length > 0) {
      event.preventDefault();
      chosen.value = (at + step + found.length) % found.length;
    } else if (event.key === "Enter") {
      event.preventDefault();
      run(found[at]);
    }
  };

  return (
    <Dialog title="Command palette" onClose={onClose} class="palette">
      <input
        type="text"
        role="combobox"
        aria-label="Command"
        aria-expanded="true"
        aria-controls={`${id}-list`}
        aria-activedescendant={found.length > 0 ? `${id}-${at}` : undefined}
        autocomplete="off"
        spellcheck={false}
        placeholder="Type what to do"
        autofocus
        value={text.value}
        onInput={(event) => {
          text.value = event.currentTarget.value;
          chosen.value = 0;
        }}
        onKeyDown={onKeyDown}
      />
      <div
        id={`${id}-list`}
        class="palette-list"
        role="listbox"
        aria-label="Commands"
        tabIndex={-1}
        ref={list}
      >
        {found.map((action, index) => (
          <button
            type="button"
            tabIndex={-1}
            key={action.id}
            id={`${id}-${index}`}
            role="option"
            aria-selected={index === at}
            class={classes(index === at && "chosen")}
            onClick={() => run(action)}
          >
            <span>{action.label}</span>
            <small>{action.section}</small>
            {action.keys && <KeyNames keys={action.keys} />}
          </button>
        ))}
      </div>
      <p class="palette-none" role="status">
        {found.length === 0 ? "Nothing here is called that." : ""}
      </p>
    </Dialog>
  );
}
