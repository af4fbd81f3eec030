import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { Scope } from "../../src/protocol/scopes.ts";
import { errorText } from "../state/error-text.ts";
import { useSession } from "../state/session.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { SelectField } from "../ui/field.tsx";
import { PairOffer } from "./pair-offer.tsx";
import type { PairingCode } from "./pairing-code.ts";
import { ScopeChoice } from "./scope-choice.tsx";
import { allScopes } from "./scope-words.ts";

const lifetimes = [
  { value: "", label: "Until it is revoked" },
  { value: "1", label: "A day" },
  { value: "7", label: "A week" },
  { value: "30", label: "A month" },
] as const;

/** Makes a code for one more device: first what it may do, then its QR code, until somebody came in with it. */
export function PairAnother({ onClose }: { readonly onClose: () => void }) {
  const session = useSession();
  const chosen = useSignal<readonly Scope[]>(allScopes.filter((scope) => session.may(scope)));
  const days = useSignal("");
  const code = useSignal<PairingCode | null>(null);
  const problem = useSignal<string | null>(null);
  const isBusy = useSignal(false);
  const devicesBefore = useSignal(0);
  const devices = session.remote.value?.devices ?? 0;
  const isPaired = code.value !== null && devices > devicesBefore.value;

  useEffect(() => {
    // A device that leaves in the meantime is no reason to miss the one that comes.
    if (devices < devicesBefore.value) devicesBefore.value = devices;
  }, [devices, devicesBefore]);

  async function make(): Promise<void> {
    isBusy.value = true;
    problem.value = null;
    devicesBefore.value = session.remote.peek()?.devices ?? 0;
    try {
      code.value = await session.rest.body<PairingCode>("POST", "/api/pair/codes", {
        scopes: chosen.value,
        ...(days.value === "" ? {} : { expires_days: Number(days.value) }),
      });
    } catch (error) {
      problem.value = errorText(error);
    }
    isBusy.value = false;
  }

  if (code.value !== null)
    return (
      <Dialog
        title={isPaired ? "Paired" : "Pair another device"}
        onClose={onClose}
        actions={<Button onClick={onClose}>Done</Button>}
      >
        <div role="status">{isPaired && <p>The new device is in. You find it in the list.</p>}</div>
        {!isPaired && <PairOffer code={code.value} onAgain={() => void make()} />}
      </Dialog>
    );
  return (
    <Dialog title="Pair another device" onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void make();
        }}
      >
        <ScopeChoice
          chosen={chosen.value}
          onChosen={(scopes) => {
            chosen.value = scopes;
          }}
        />
        <SelectField
          label="For how long"
          value={days.value}
          onValue={(value) => {
            days.value = value;
          }}
          options={lifetimes}
        />
        <p role="alert" class="problem-text">
          {problem.value}
        </p>
        <Button
          type="submit"
          kind="primary"
          isWide
          isBusy={isBusy.value}
          disabled={chosen.value.length === 0}
        >
          Show the code
        </Button>
      </form>
    </Dialog>
  );
}
