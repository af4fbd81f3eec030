import { useSignal } from "@preact/signals";
import { useCallback, useEffect, useRef } from "preact/hooks";
import type { SessionList, SessionRow } from "../../src/protocol/rest-objects.ts";
import { errorText } from "../state/error-text.ts";
import { useSession } from "../state/session.ts";
import { dropSession, mergeSessions, replaceSession } from "./session-rows.ts";

export interface SessionPages {
  /** Newest first; null before the first answer. */
  readonly rows: readonly SessionRow[] | null;
  readonly problem: string | null;
  readonly isLoading: boolean;
  readonly hasMore: boolean;
  readonly loadMore: () => void;
  readonly reload: () => void;
}

const pageSize = 50;

/** The saved sessions that `search` finds, page by page; what others rename, mark and delete shows at once. */
export function useSessionPages(search: string): SessionPages {
  const session = useSession();
  const rows = useSignal<readonly SessionRow[] | null>(null);
  const next = useSignal<string | null>(null);
  const problem = useSignal<string | null>(null);
  const isLoading = useSignal(false);
  const run = useRef(0);

  const load = useCallback(
    async (before: string | null): Promise<void> => {
      run.current += 1;
      const thisRun = run.current;
      isLoading.value = true;
      const query = new URLSearchParams({ limit: String(pageSize) });
      if (search !== "") query.set("q", search);
      if (before !== null) query.set("before", before);
      try {
        const page = await session.rest.body<SessionList>("GET", `/api/sessions?${query}`);
        if (thisRun !== run.current) return;
        rows.value = before === null ? page.sessions : mergeSessions(rows.value ?? [], page.sessions);
        next.value = page.next;
        problem.value = null;
      } catch (error) {
        if (thisRun !== run.current) return;
        problem.value = errorText(error);
      }
      isLoading.value = false;
    },
    [session, search, rows, next, problem, isLoading],
  );

  const { generation } = session;
  useEffect(() => {
    void load(null);
    return () => {
      run.current += 1; // An answer that comes later changes nothing.
    };
    // A whole snapshot means that changes were missed.
  }, [load, generation.value]);

  useEffect(
    () =>
      session.client.onChange((change) => {
        if (rows.value === null) return;
        if (change.type === "session_updated") rows.value = replaceSession(rows.value, change.session);
        if (change.type === "session_deleted") rows.value = dropSession(rows.value, change.session);
      }),
    [session, rows],
  );

  return {
    rows: rows.value,
    problem: problem.value,
    isLoading: isLoading.value,
    hasMore: next.value !== null,
    loadMore: () => void load(next.value),
    reload: () => void load(null),
  };
}
