import { useSignal } from "@preact/signals";
import { limits } from "../../src/protocol/limits.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { TextField } from "../ui/field.tsx";

interface RenameSessionProps {
  readonly name: string;
  readonly onClose: () => void;
  readonly onName: (title: string) => void;
}

/** Asks for another title. */
export function RenameSession({ name, onClose, onName }: RenameSessionProps) {
  const typed = useSignal(name.slice(0, limits.labelChars));
  const title = typed.value.trim();
  return (
    <Dialog title="Rename" onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (title !== "") onName(title);
        }}
      >
        <TextField
          label="Title"
          value={typed.value}
          onValue={(value) => (typed.value = value)}
          maxLength={limits.labelChars}
          enterkeyhint="done"
        />
        <Button type="submit" kind="primary" isWide disabled={title === ""}>
          Rename
        </Button>
      </form>
    </Dialog>
  );
}
