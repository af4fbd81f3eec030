import { useSignalEffect } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { useSession } from "../state/session.ts";
import { createTranscriptSource, type TranscriptSource } from "../transcript/transcript-source.ts";
import type { TranscriptPage } from "../transcript/transcript-window.ts";
import { createPacedFrames } from "./paced-frames.ts";

const pageRecords = 200;

/** The conversation of an agent, as long as the view is there. */
export function useTranscript(agent: string): TranscriptSource {
  const session = useSession();
  const source = useMemo(
    () =>
      createTranscriptSource({
        fetchPage: (before) => {
          const query = new URLSearchParams({ limit: String(pageRecords) });
          if (before !== null) query.set("before", String(before));
          return session.rest.body<TranscriptPage>(
            "GET",
            `/api/sessions/${encodeURIComponent(agent)}?${query}`,
          );
        },
        schedule: createPacedFrames({
          now: () => performance.now(),
          requestFrame: (work) => requestAnimationFrame(work),
          setTimer: (work, ms) => setTimeout(work, ms),
          isHidden: () => document.visibilityState !== "visible",
        }),
      }),
    [agent, session],
  );
  useEffect(() => {
    const stop = session.onEvent(agent, source.hear);
    return () => {
      stop();
      source.close();
    };
  }, [agent, session, source]);
  // A whole snapshot says that events before it may have been missed.
  const generation = useRef(session.generation.peek());
  useSignalEffect(() => {
    const next = session.generation.value;
    if (next !== generation.current) source.reload();
    generation.current = next;
  });
  // One that could not be read is tried again when the connection is back.
  useSignalEffect(() => {
    if (session.isLive.value && source.view.peek().phase === "failed") source.reload();
  });
  return source;
}
