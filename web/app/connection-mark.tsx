import { type ReadonlySignal, signal, useComputed, useSignal, useSignalEffect } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { announce } from "../state/announcer.ts";
import { useSession } from "../state/session.ts";
import { Button, IconButton } from "../ui/button.tsx";
import { classes } from "../ui/classes.ts";
import { Dialog } from "../ui/dialog.tsx";
import { type ConnectionText, connectionText } from "./connection-text.ts";
import "./connection-mark.css";

const isOnline = signal(navigator.onLine);
for (const event of ["online", "offline"])
  addEventListener(event, () => {
    isOnline.value = navigator.onLine;
  });

/**
 * What the connection does, at the edge of the page, where nothing moves when it changes: a mark and a few words, which
 * open the whole story, and a way to try at once.
 */
export function ConnectionMark() {
  const session = useSession();
  const isOpen = useSignal(false);
  const text = useConnectionText();
  useSignalEffect(() => announceChange(text.value));
  const { state, short } = text.value;
  const tryNow = (): void => session.client.wake();
  return (
    <>
      <button
        type="button"
        class={classes("connection-mark", state)}
        aria-haspopup="dialog"
        onClick={() => {
          isOpen.value = true;
        }}
      >
        <span class="connection-dot" aria-hidden="true" />
        <span>{short}</span>
      </button>
      {state === "waiting" && <IconButton icon="refresh" label="Try now" onClick={tryNow} />}
      {isOpen.value && (
        <ConnectionDialog
          text={text.value}
          onRetry={tryNow}
          onClose={() => {
            isOpen.value = false;
          }}
        />
      )}
    </>
  );
}

interface ConnectionDialogProps {
  readonly text: ConnectionText;
  readonly onRetry: () => void;
  readonly onClose: () => void;
}

function ConnectionDialog({ text, onRetry, onClose }: ConnectionDialogProps) {
  const { base, snapshot, outbox } = useSession();
  const unsent = outbox.items.value.filter(({ problem }) => problem === null).length;
  const daemon = snapshot.value?.daemon;
  return (
    <Dialog title="Connection" onClose={onClose} actions={<Button onClick={onRetry}>Check now</Button>}>
      <p>
        <strong>{text.short}.</strong> {text.long}
      </p>
      <dl class="facts">
        <dt>Address</dt>
        <dd>{base}</dd>
        {daemon && (
          <>
            <dt>Daemon</dt>
            <dd>
              Sallyport {daemon.version}, {daemon.clients === 1 ? "one client" : `${daemon.clients} clients`}
            </dd>
          </>
        )}
        {unsent > 0 && (
          <>
            <dt>Waits to be sent</dt>
            <dd>{unsent === 1 ? "one prompt" : `${unsent} prompts`}, kept on this device</dd>
          </>
        )}
      </dl>
    </Dialog>
  );
}

let lastState: ConnectionText["state"] = "live";

/** Each change of state once; the seconds that pass are not read out. */
function announceChange({ state, long }: ConnectionText): void {
  if (state === lastState || state === "connecting") return;
  announce(state === "live" ? "Connected again." : `Connection lost. ${long ?? ""}`);
  lastState = state;
}

function useConnectionText(): ReadonlySignal<ConnectionText> {
  const { status } = useSession();
  const nowMs = useSignal(Date.now());
  const isWaiting = useComputed(() => status.value.phase === "waiting").value;
  useEffect(() => {
    if (!isWaiting) return undefined;
    nowMs.value = Date.now();
    const timer = setInterval(() => {
      nowMs.value = Date.now();
    }, 500);
    return () => clearInterval(timer);
  }, [isWaiting, nowMs]);
  return useComputed(() => connectionText(status.value, nowMs.value, isOnline.value));
}
