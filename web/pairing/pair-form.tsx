import { useSignal } from "@preact/signals";
import { useCallback, useEffect, useRef } from "preact/hooks";
import { isUnencrypted } from "../state/base.ts";
import { Button } from "../ui/button.tsx";
import { TextField } from "../ui/field.tsx";
import { Icon } from "../ui/icon.tsx";
import { cameraSupport } from "./camera.ts";
import type { CodeScanner } from "./code-scanner.tsx";
import { readPairingCode } from "./pairing-code.ts";
import "./pair-form.css";

interface PairFormProps {
  /** As it was typed. */
  readonly code: string;
  readonly name: string;
  readonly problem: string | null;
  readonly onPair: (code: string, name: string) => void;
}

/** Asks for a pairing code; forgiving about how it is typed. */
export function PairForm(props: PairFormProps) {
  const code = useSignal(props.code);
  const name = useSignal(props.name);
  const problem = useSignal(props.problem);
  const form = useRef<HTMLFormElement>(null);
  const focusCode = (): void => form.current?.querySelector("input")?.focus();
  useEffect(focusCode, []);

  const submit = (event: Event): void => {
    event.preventDefault();
    const read = readPairingCode(code.value);
    problem.value = read.ok ? null : read.hint;
    if (read.ok) props.onPair(read.code, name.value);
    else focusCode();
  };

  const { onPair } = props;
  const camera = cameraSupport(isSecureContext, navigator.mediaDevices);
  const Scanner = useSignal<typeof CodeScanner | null>(null);
  const scan = async (): Promise<void> => {
    try {
      Scanner.value = (await import("./code-scanner.tsx")).CodeScanner;
    } catch {
      problem.value = "The scanner could not be loaded. Is there a connection? Type the code instead.";
    }
  };
  const closeScanner = useCallback(() => {
    Scanner.value = null;
  }, [Scanner]);
  const take = useCallback((scanned: string) => onPair(scanned, name.value), [onPair, name]);

  return (
    <>
      <p class="front-lead">
        Pair once, and this browser can drive the agents and jobs on the daemon's machine.
      </p>
      {isUnencrypted(location.href) && (
        <p class="pair-warning">
          <Icon name="warning" />
          <span>This address is not encrypted: whoever can read this network can become this device.</span>
        </p>
      )}
      <form ref={form} class="pair-form" onSubmit={submit} noValidate>
        <TextField
          label="Pairing code"
          class="pair-code"
          value={code.value}
          onValue={(value) => {
            code.value = value;
          }}
          problem={problem.value}
          name="code"
          autocomplete="one-time-code"
          autocapitalize="characters"
          isProse={false}
          enterkeyhint="go"
          maxLength={400}
          hint="Ten characters, such as ABCDE-FGHJK. Capitals and the hyphen do not matter."
        />
        <TextField
          label="Name of this device"
          value={name.value}
          onValue={(value) => {
            name.value = value;
          }}
          name="name"
          autocomplete="off"
          maxLength={64}
        />
        <Button type="submit" kind="primary" isWide>
          Pair
        </Button>
        {camera === "yes" && (
          <Button icon="camera" isWide onClick={() => void scan()}>
            Scan a QR code
          </Button>
        )}
      </form>
      {Scanner.value !== null && <Scanner.value onCode={take} onClose={closeScanner} />}
      <div class="pair-help">
        <p>
          Make a code on the daemon's machine with <code>sallyport pair</code>. It is good for ten minutes and
          one device. On that same machine <code>sallyport web --open</code> opens this page without a code.
          In a clone of Sallyport write <code>npx</code> before them.
        </p>
        {camera === "insecure" && (
          <p>
            Browsers give no camera to a page on plain http. Scan the QR code with the phone's own camera app:
            it opens the link with the code.
          </p>
        )}
      </div>
    </>
  );
}
