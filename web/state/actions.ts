import { computed, signal } from "@preact/signals";
import { useEffect } from "preact/hooks";

/** Something that can be done: the palette offers it, and its keys do it from anywhere on the page. */
export interface Action {
  /** Unique. */
  readonly id: string;
  readonly label: string;
  /** Under which heading it is listed. */
  readonly section: string;
  /** `mod+k` (Ctrl, or Cmd on a Mac), `?`, `Escape`, or keys one after the other: `g j`. */
  readonly keys?: string;
  /** More words by which the palette finds it. */
  readonly words?: string;
  /** False: it works by its keys only. */
  readonly inPalette?: boolean;
  readonly run: () => void;
}

const registered = signal<ReadonlyMap<string, readonly Action[]>>(new Map());

/** All that can be done at the moment; of two with one id the newer counts. */
export const actions = computed<readonly Action[]>(() => [
  ...new Map([...registered.value.values()].flat().map((action) => [action.id, action])).values(),
]);

/** Registers actions until the returned function is called. */
function registerActions(owner: string, list: readonly Action[]): () => void {
  registered.value = new Map([...registered.value, [owner, list]]);
  return () => {
    if (registered.value.get(owner) !== list) return;
    const rest = new Map(registered.value);
    rest.delete(owner);
    registered.value = rest;
  };
}

/**
 * Offers actions as long as the view is there.
 *
 * @param owner unique among views that are there at the same time
 * @param inputs as of `useEffect`: when one changes, the actions are registered anew
 */
export function useActions(owner: string, list: readonly Action[], inputs: readonly unknown[]): void {
  // biome's hook rule cannot see into a spread: the caller names the inputs.
  useEffect(() => registerActions(owner, list), [owner, ...inputs]);
}
