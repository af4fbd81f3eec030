import { useSignal } from "@preact/signals";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";
import { TextField } from "./field.tsx";

interface NameDialogProps {
  readonly title: string;
  /** Of the field. Default: `Name`. */
  readonly label?: string;
  /** What it is called now; empty for something new. */
  readonly name: string;
  readonly maxChars: number;
  /** On the button that does it. */
  readonly verb: string;
  readonly onClose: () => void;
  /** Gets the name without spaces around it, never empty. The caller closes the dialog. */
  readonly onName: (name: string) => void;
}

/** Asks what something is to be called. */
export function NameDialog({
  title,
  label = "Name",
  name,
  maxChars,
  verb,
  onClose,
  onName,
}: NameDialogProps) {
  const typed = useSignal(name.slice(0, maxChars));
  const trimmed = typed.value.trim();
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (trimmed !== "") onName(trimmed);
        }}
      >
        <TextField
          label={label}
          value={typed.value}
          onValue={(value) => {
            typed.value = value;
          }}
          maxLength={maxChars}
          enterkeyhint="done"
        />
        <Button type="submit" kind="primary" isWide disabled={trimmed === ""}>
          {verb}
        </Button>
      </form>
    </Dialog>
  );
}
