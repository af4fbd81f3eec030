import { announce } from "../state/announcer.ts";
import { toast } from "../state/toasts.ts";
import { Button, IconButton } from "./button.tsx";

/** Copies `text`. Where the page may not (plain http), it says so. */
export function CopyButton({
  text,
  label,
  isBare = true,
}: {
  readonly text: string;
  readonly label: string;
  readonly isBare?: boolean;
}) {
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      toast("Copied.");
    } catch {
      // No clipboard on plain http, or the browser asks and was told no.
      toast("This browser does not let the page copy here. Select the text and copy it.");
    }
    announce("");
  };
  return isBare ? (
    <IconButton icon="copy" label={label} onClick={() => void copy()} />
  ) : (
    <Button icon="copy" onClick={() => void copy()}>
      {label}
    </Button>
  );
}
