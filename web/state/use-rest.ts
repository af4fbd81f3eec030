import { useSignal, useSignalEffect } from "@preact/signals";
import { useCallback, useEffect, useRef } from "preact/hooks";
import { errorText } from "./error-text.ts";
import { useSession } from "./session.ts";

export interface RestValue<T> {
  /** What came last; stays while it is loaded again, null before. */
  readonly value: T | null;
  /** Why the last try failed, in words; null when it did not. */
  readonly problem: string | null;
  readonly isLoading: boolean;
  readonly reload: () => void;
}

/**
 * The body of `GET path`, loaded when the view appears, when the path changes, and again whenever the connection is back.
 *
 * @param path below the base, as `/api/usage?days=30`; null: nothing is loaded
 */
export function useRest<T>(path: string | null): RestValue<T> {
  const session = useSession();
  const value = useSignal<T | null>(null);
  const problem = useSignal<string | null>(null);
  const isLoading = useSignal(path !== null);
  const run = useRef(0);

  const load = useCallback(async (): Promise<void> => {
    run.current += 1;
    const thisRun = run.current;
    if (path === null) return;
    isLoading.value = true;
    try {
      const body = await session.rest.body<T>("GET", path);
      if (thisRun !== run.current) return;
      value.value = body;
      problem.value = null;
    } catch (error) {
      if (thisRun !== run.current) return;
      problem.value = errorText(error);
    }
    isLoading.value = false;
  }, [session, path, value, problem, isLoading]);

  useEffect(() => {
    value.value = null;
    problem.value = null;
    void load();
    return () => {
      run.current += 1; // An answer that comes later changes nothing.
    };
  }, [load, value, problem]);

  const wasLive = useRef(session.isLive.peek());
  useSignalEffect(() => {
    const isLive = session.isLive.value;
    if (isLive && !wasLive.current) void load();
    wasLive.current = isLive;
  });

  return {
    value: value.value,
    problem: problem.value,
    isLoading: isLoading.value,
    reload: () => void load(),
  };
}
