import type { ProjectCommand } from "../../../src/protocol/objects.ts";

/** What the text before the caret asks to be completed. */
export type Completion =
  | { readonly kind: "command"; readonly typed: string; readonly from: number }
  /** A path behind `@`, relative to the tab's folder: `folder` ends with a slash or is empty, `typed` is the begin of a name. */
  | { readonly kind: "path"; readonly folder: string; readonly typed: string; readonly from: number };

export interface Suggestion {
  readonly label: string;
  readonly detail: string;
  /** What takes the place of what was typed. */
  readonly text: string;
  /** A path that becomes an attachment; null for anything else. */
  readonly attach: string | null;
}

const maxSuggestions = 50;

/** Null where nothing is to be completed. `caret` is where the text is being written. */
export function completionAt(text: string, caret: number): Completion | null {
  const before = text.slice(0, caret);
  const command = /^\/([\w:-]{0,128})$/.exec(before);
  if (command !== null) return { kind: "command", typed: command[1] ?? "", from: 0 };
  const path = /(?:^|[\s(])@((?:[^\s@]*\/)?)([^\s@/]*)$/.exec(before.slice(-4_096));
  if (path === null) return null;
  const [, folder = "", typed = ""] = path;
  return { kind: "path", folder, typed, from: before.length - folder.length - typed.length - 1 };
}

/** The daemon's own command, and those of the tab's project. */
export function suggestCommands(commands: readonly ProjectCommand[], typed: string): readonly Suggestion[] {
  const all = [
    {
      name: "context",
      description: "What goes into a turn: folder, mode, rules, project files",
      argument_hint: null,
    },
    ...commands,
  ];
  return ranked(all, typed, ({ name }) => name).map(({ name, description, argument_hint }) => ({
    label: argument_hint === null ? `/${name}` : `/${name} ${argument_hint}`,
    detail: description ?? "",
    text: `/${name} `,
    attach: null,
  }));
}

export interface PathEntry {
  readonly name: string;
  readonly kind: "folder" | "file";
  readonly hidden: boolean;
}

/** Entries of the folder that is being typed into. A folder goes on being completed, a file is attached. */
export function suggestPaths(
  entries: readonly PathEntry[],
  folder: string,
  typed: string,
): readonly Suggestion[] {
  const shown = entries.filter(({ name, hidden }) => !/\s/.test(name) && (!hidden || typed.startsWith(".")));
  return ranked(shown, typed, ({ name }) => name).map(({ name, kind }) => ({
    label: kind === "folder" ? `${name}/` : name,
    detail: kind === "folder" ? "folder" : "",
    text: kind === "folder" ? `@${folder}${name}/` : `@${folder}${name} `,
    attach: kind === "folder" ? null : folder + name,
  }));
}

/** The text after a suggestion was taken, and where the caret then stands. */
export function withSuggestion(
  text: string,
  caret: number,
  completion: Completion,
  suggestion: Suggestion,
): { readonly text: string; readonly caret: number } {
  const behind = text.slice(caret);
  const inserted =
    suggestion.text.endsWith(" ") && behind.startsWith(" ") ? suggestion.text.trimEnd() : suggestion.text;
  return {
    text: text.slice(0, completion.from) + inserted + behind,
    caret: completion.from + inserted.length + (inserted === suggestion.text ? 0 : 1),
  };
}

/** Those that begin with what was typed first, then those that have it in them. */
function ranked<T>(items: readonly T[], typed: string, nameOf: (item: T) => string): readonly T[] {
  const wanted = typed.toLowerCase();
  const begins = items.filter((item) => nameOf(item).toLowerCase().startsWith(wanted));
  const holds = items.filter(
    (item) => !nameOf(item).toLowerCase().startsWith(wanted) && nameOf(item).toLowerCase().includes(wanted),
  );
  return [...begins, ...holds].slice(0, maxSuggestions);
}
