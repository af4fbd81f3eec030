import type { ComponentChildren } from "preact";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";

interface ConfirmDialogProps {
  /** A question. */
  readonly title: string;
  /** What follows from it. */
  readonly children: ComponentChildren;
  /** On the button that does it, and on the one that leaves everything as it is. */
  readonly verb: string;
  readonly keep?: string;
  readonly onClose: () => void;
  /** The caller closes the dialog. */
  readonly onConfirm: () => void;
}

/** Asks once more before something that cannot be undone. The harmless button comes first. */
export function ConfirmDialog({
  title,
  children,
  verb,
  keep = "Cancel",
  onClose,
  onConfirm,
}: ConfirmDialogProps) {
  return (
    <Dialog
      title={title}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{keep}</Button>
          <Button kind="danger" onClick={onConfirm}>
            {verb}
          </Button>
        </>
      }
    >
      {children}
    </Dialog>
  );
}
