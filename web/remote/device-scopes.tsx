import { useSignal } from "@preact/signals";
import type { Device } from "../../src/protocol/objects.ts";
import type { Scope } from "../../src/protocol/scopes.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { visible } from "../ui/visible-text.ts";
import { ScopeChoice } from "./scope-choice.tsx";

interface DeviceScopesProps {
  readonly device: Device;
  readonly onClose: () => void;
  readonly onScopes: (scopes: readonly Scope[]) => void;
}

/** Changes what a device may do; it counts at once, also for what it has open. */
export function DeviceScopes({ device, onClose, onScopes }: DeviceScopesProps) {
  const chosen = useSignal<readonly Scope[]>(device.scopes);
  const losesAdmin = device.current && !chosen.value.includes("admin");
  return (
    <Dialog
      title={`What ${visible(device.name)} may do`}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" disabled={chosen.value.length === 0} onClick={() => onScopes(chosen.value)}>
            Save
          </Button>
        </>
      }
    >
      <ScopeChoice
        chosen={chosen.value}
        onChosen={(scopes) => {
          chosen.value = scopes;
        }}
      />
      {losesAdmin && <p class="problem-text">This device could not give it back to itself.</p>}
    </Dialog>
  );
}
