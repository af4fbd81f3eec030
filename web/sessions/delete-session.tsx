import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";

interface DeleteSessionProps {
  /** With hidden characters shown. */
  readonly name: string;
  readonly onClose: () => void;
  readonly onDelete: () => void;
}

/** Asks once more: what is deleted is gone from the disk. */
export function DeleteSession({ name, onClose, onDelete }: DeleteSessionProps) {
  return (
    <Dialog
      title="Delete this conversation?"
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Keep it</Button>
          <Button kind="danger" icon="trash" onClick={onDelete}>
            Delete
          </Button>
        </>
      }
    >
      <p>
        <strong>{name}</strong>
      </p>
      <p>
        All of it is removed from the daemon's machine and cannot be brought back. Put it away to keep it out
        of sight only.
      </p>
    </Dialog>
  );
}
