import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { TabWithAgents } from "../../../src/protocol/objects.ts";
import { useSession } from "../../state/session.ts";
import {
  type Completion,
  completionAt,
  type PathEntry,
  type Suggestion,
  suggestCommands,
  suggestPaths,
} from "./suggest.ts";

export interface Suggestions {
  readonly completion: Completion | null;
  readonly list: readonly Suggestion[];
}

const waitMs = 120;
const none: Suggestions = { completion: null, list: [] };

/** What could stand at the caret: commands of the project behind `/`, files of the tab's folder behind `@`. */
export function useSuggestions(text: string, caret: number, tab: TabWithAgents | null): Suggestions {
  const session = useSession();
  const found = useSignal<Suggestions>(none);
  const folders = useRef(new Map<string, readonly PathEntry[]>());
  const cwd = tab?.cwd ?? null;
  const completion = completionAt(text, caret);
  const key = completion === null ? "" : JSON.stringify(completion);

  useEffect(() => {
    if (completion === null || cwd === null) {
      found.value = none;
      folders.current.clear();
      return undefined;
    }
    if (completion.kind === "command") {
      found.value = { completion, list: suggestCommands(tab?.project?.commands ?? [], completion.typed) };
      return undefined;
    }
    const { folder, typed } = completion;
    const path = folder.startsWith("/") || folder.startsWith("~") ? folder : `${cwd}/${folder}`;
    const show = (entries: readonly PathEntry[]): void => {
      found.value = { completion, list: suggestPaths(entries, folder, typed) };
    };
    const known = folders.current.get(path);
    if (known !== undefined) {
      show(known);
      return undefined;
    }
    let isCurrent = true;
    const timer = setTimeout(async () => {
      try {
        const query = new URLSearchParams({ path, files: "true", limit: "1000" });
        const { entries } = await session.rest.body<{ entries: readonly PathEntry[] }>(
          "GET",
          `/api/fs?${query}`,
        );
        folders.current.set(path, entries);
        if (isCurrent) show(entries);
      } catch {
        if (isCurrent) found.value = none; // No such folder, or out of reach: then there is nothing to suggest.
      }
    }, waitMs);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [key, cwd, tab?.project]);

  return found.value.completion !== null && key === JSON.stringify(found.value.completion)
    ? found.value
    : none;
}
