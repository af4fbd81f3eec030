import { signal, useComputed, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { useSession } from "../state/session.ts";
import { Button } from "../ui/button.tsx";
import { classes } from "../ui/classes.ts";
import { connectionText } from "./connection-text.ts";
import "./connection-line.css";

const isOnline = signal(navigator.onLine);
for (const event of ["online", "offline"])
  addEventListener(event, () => {
    isOnline.value = navigator.onLine;
  });

/** What the connection does at the moment, as a mark and a few words. */
export function ConnectionMark() {
  const text = useConnectionText();
  return (
    <p class={classes("connection-mark", text.state)}>
      <span class="connection-dot" aria-hidden="true" />
      {/* A count of seconds is not read out; what it stands for is said by the line. */}
      <span>{text.short}</span>
    </p>
  );
}

/** Across the page while the connection is not there: why, what happens next, and a way to try at once. */
export function ConnectionLine() {
  const session = useSession();
  const text = useConnectionText();
  const shown = text.state === "waiting" || text.state === "offline";
  return (
    <div role="status">
      {shown && (
        <div class="connection-line">
          <p>{text.long}</p>
          {text.state === "waiting" && <Button onClick={() => session.client.wake()}>Try now</Button>}
        </div>
      )}
    </div>
  );
}

function useConnectionText() {
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
  return connectionText(status.value, nowMs.value, isOnline.value);
}
