import { useComputed, useSignalEffect } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { navigate } from "../state/router.ts";
import { useSession } from "../state/session.ts";
import { tidyNotifications } from "./page-push.ts";

/** Keeps the screen's notifications true while the page is there: what was answered goes, and a touched one opens its page. */
export function PushTidy() {
  const session = useSession();
  useEffect(() => {
    const { serviceWorker } = navigator;
    if (!serviceWorker) return;
    const open = ({ data }: MessageEvent): void => {
      if (typeof data === "object" && data?.type === "open" && typeof data.path === "string")
        navigate(data.path);
    };
    serviceWorker.addEventListener("message", open);
    return () => serviceWorker.removeEventListener("message", open);
  }, []);
  useEffect(() => {
    const look = (): void => {
      if (document.visibilityState === "visible") void tidyNotifications((tag) => isOpen(tag));
    };
    const isOpen = (tag: string): boolean =>
      [...session.pending.peek(), ...session.questions.peek()].some(
        ({ request_id }) => tag === `request-${request_id}`,
      );
    document.addEventListener("visibilitychange", look);
    return () => document.removeEventListener("visibilitychange", look);
  }, [session]);
  // A text, because the state is another object with every frame while an agent talks.
  const openTags = useComputed(() => {
    const open = [...session.pending.value, ...session.questions.value].map(
      ({ request_id }) => `request-${request_id}`,
    );
    // A state of before the connection was lost knows nothing of what came since.
    return session.isLive.value && session.snapshot.value !== null ? open.join(" ") : null;
  });
  useSignalEffect(() => {
    if (openTags.value === null) return;
    const open = new Set(openTags.value.split(" "));
    void tidyNotifications((tag) => !tag.startsWith("request-") || open.has(tag));
  });
  return null;
}
