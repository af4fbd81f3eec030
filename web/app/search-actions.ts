import type { Action } from "../state/actions.ts";

/** Actions that hold every word of `text`, those whose label begins with it first; all of them for an empty one. */
export function searchActions(all: readonly Action[], text: string): readonly Action[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const [first = ""] = words;
  const hay = (action: Action): string =>
    `${action.label} ${action.section} ${action.words ?? ""}`.toLowerCase();
  const rank = ({ label }: Action): number => {
    const at = label.toLowerCase().indexOf(first);
    return at === 0 ? 0 : at > 0 ? 1 : 2;
  };
  return all
    .filter((action) => words.every((word) => hay(action).includes(word)))
    .map((action, index) => ({ action, index }))
    .sort((a, b) => rank(a.action) - rank(b.action) || a.index - b.index)
    .map(({ action }) => action);
}
