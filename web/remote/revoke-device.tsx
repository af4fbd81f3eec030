import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";

interface RevokeDeviceProps {
  /** With hidden characters shown. */
  readonly name: string;
  readonly isCurrent: boolean;
  readonly onClose: () => void;
  readonly onRevoke: () => void;
}

/** Asks once more before a device is put out. */
export function RevokeDevice({ name, isCurrent, onClose, onRevoke }: RevokeDeviceProps) {
  return (
    <Dialog
      title={isCurrent ? "Sign this device out?" : `Revoke ${name}?`}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="danger" onClick={onRevoke}>
            {isCurrent ? "Sign out" : "Revoke"}
          </Button>
        </>
      }
    >
      <p>
        {isCurrent ? "This page" : "It"} is cut off at once and has to be paired again. What it started goes
        on; codes that it made and nobody used die.
      </p>
    </Dialog>
  );
}
