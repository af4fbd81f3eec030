import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { proseText } from "../markdown/prose-text.ts";
import type { OutgoingPrompt } from "../state/outbox.ts";
import { useSession } from "../state/session.ts";
import { Button } from "../ui/button.tsx";
import { Icon } from "../ui/icon.tsx";
import { draftOf } from "./composer/drafts.ts";

/** Until then what was sent needs no words: it is about to stand in the conversation. */
const slowMs = 2_000;

/** The time, as long as somebody waits for it. */
function useNow(isWaiting: boolean): number {
  const nowMs = useSignal(Date.now());
  useEffect(() => {
    if (!isWaiting) return undefined;
    const timer = setInterval(() => {
      nowMs.value = Date.now();
    }, 500);
    return () => clearInterval(timer);
  }, [isWaiting, nowMs]);
  return nowMs.value;
}

/** Prompts to this agent that the daemon has not taken: why, and what can be done. */
export function OutgoingList({ agent }: { readonly agent: string }) {
  const { outbox, isLive } = useSession();
  const items = outbox.items.value.filter(({ prompt }) => prompt.agent === agent);
  const now = useNow(items.some(({ problem }) => problem === null));
  const shown = items.filter(
    ({ problem, atMs }) => problem !== null || !isLive.value || now - atMs >= slowMs,
  );
  if (shown.length === 0) return null;
  const edit = (prompt: OutgoingPrompt["prompt"]): void => {
    if (!outbox.withdraw(prompt.request_id)) return;
    const draft = draftOf(agent);
    const written = draft.text.peek();
    draft.text.value = written === "" ? prompt.text : `${prompt.text}\n\n${written}`;
    draft.attachments.value = [
      ...new Set([...draft.attachments.peek(), ...(prompt.attachments ?? []).map(({ path }) => path)]),
    ];
  };
  return (
    <ul class="outgoing" aria-label="Not sent yet">
      {shown.map(({ prompt, problem }) => (
        <li key={prompt.request_id}>
          <p class="outgoing-text" dir="auto">
            {proseText(prompt.text.slice(0, 2_000))}
          </p>
          {(prompt.attachments ?? []).length > 0 && (
            <p class="outgoing-with">
              With {(prompt.attachments ?? []).map(({ path }) => proseText(path)).join(", ")}
            </p>
          )}
          <p class={problem === null ? "outgoing-state" : "outgoing-state problem-text"} role="status">
            <Icon name={problem === null ? "sessions" : "warning"} />
            {problem ?? (isLive.value ? "On its way…" : "Kept. It is sent once when the connection is back.")}
          </p>
          {(problem !== null || !isLive.value) && (
            <div class="button-row">
              {problem !== null && (
                <Button onClick={() => outbox.retry(prompt.request_id)}>Send again</Button>
              )}
              {(prompt.images ?? []).length === 0 && <Button onClick={() => edit(prompt)}>Edit</Button>}
              <Button kind="quiet" onClick={() => outbox.withdraw(prompt.request_id)}>
                Discard
              </Button>
            </div>
          )}
        </li>
      ))}
    </ul>
  );
}
