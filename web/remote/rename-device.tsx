import { useSignal } from "@preact/signals";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { TextField } from "../ui/field.tsx";

interface RenameDeviceProps {
  readonly name: string;
  readonly onClose: () => void;
  readonly onName: (name: string) => void;
}

const maxNameChars = 64;

/** Asks for another name of a device. */
export function RenameDevice({ name, onClose, onName }: RenameDeviceProps) {
  const typed = useSignal(name);
  const trimmed = typed.value.trim();
  return (
    <Dialog title="Rename the device" onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (trimmed !== "") onName(trimmed);
        }}
      >
        <TextField
          label="Name"
          value={typed.value}
          onValue={(value) => {
            typed.value = value;
          }}
          maxLength={maxNameChars}
          enterkeyhint="done"
        />
        <Button type="submit" kind="primary" isWide disabled={trimmed === ""}>
          Rename
        </Button>
      </form>
    </Dialog>
  );
}
