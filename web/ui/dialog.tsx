import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";
import { IconButton } from "./button.tsx";
import { classes } from "./classes.ts";
import "./dialog.css";

interface DialogProps {
  readonly title: string;
  /** Called when it was closed, however: the button, Escape, a click beside it. Render it as long as it is open. */
  readonly onClose: () => void;
  readonly children: ComponentChildren;
  /** Shown at its foot, side by side. */
  readonly actions?: ComponentChildren;
  readonly size?: "small" | "large";
  readonly class?: string;
}

/**
 * A native modal dialog: the focus stays in it and returns to where it was, Escape closes it, and the page behind is
 * inert. On a phone it rises from the lower edge. Rendered means open.
 */
export function Dialog(props: DialogProps) {
  const { title, onClose, children, actions, size = "small" } = props;
  const element = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  const isGone = useRef(false);
  // At once, and not after the next frame: a key that is pressed now is meant for it.
  useLayoutEffect(() => {
    const dialog = element.current;
    if (dialog === null) return undefined;
    const before = document.activeElement;
    if (!dialog.open) dialog.showModal();
    return () => {
      isGone.current = true;
      dialog.close();
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={element}
      class={classes("dialog", size, props.class)}
      aria-labelledby={titleId}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      // The platform closes it without asking when Escape is pressed twice.
      onClose={() => {
        if (!isGone.current) onClose();
      }}
      onMouseDown={(event) => {
        if (event.target === element.current) onClose();
      }}
    >
      <div class="dialog-body">
        <div class="dialog-head">
          <h2 id={titleId}>{title}</h2>
          <IconButton icon="close" label="Close" onClick={onClose} />
        </div>
        <div class="dialog-content">{children}</div>
        {actions && <div class="dialog-foot">{actions}</div>}
      </div>
    </dialog>
  );
}
