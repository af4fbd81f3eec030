/** The parts of a call's input that have a look of their own; the rest is shown as it is. */
export interface CallInput {
  readonly command: string | null;
  readonly path: string | null;
  /** A text that replaces another one. */
  readonly change: { readonly before: string; readonly after: string } | null;
  /** All that is not in the parts above, as JSON; empty where nothing is left. */
  readonly rest: string;
}

const pathNames = ["path", "file_path", "filePath"] as const;
const changeNames = [
  ["old_string", "new_string"],
  ["oldText", "newText"],
  ["old_text", "new_text"],
] as const;

/** Reads what agents write into the input of a call. Anything is taken; nothing of it is left out. */
export function readCallInput(input: unknown): CallInput {
  if (typeof input !== "object" || input === null || Array.isArray(input))
    return { command: null, path: null, change: null, rest: input == null ? "" : pretty(input) };
  const left: Record<string, unknown> = { ...input };
  const take = (name: string): string | null => {
    const value = left[name];
    if (typeof value !== "string") return null;
    delete left[name];
    return value;
  };
  const command = take("command");
  const pathName = pathNames.find((name) => typeof left[name] === "string");
  const path = pathName === undefined ? null : take(pathName);
  const names = changeNames.find(
    ([before, after]) => typeof left[before] === "string" && typeof left[after] === "string",
  );
  const change = names === undefined ? null : { before: take(names[0]) ?? "", after: take(names[1]) ?? "" };
  return { command, path, change, rest: Object.keys(left).length === 0 ? "" : pretty(left) };
}

/**
 * A path as seen from the folder in which the agent works, in two: the way there, and the name. What is no path in that
 * folder is a name whole.
 */
export function splitPath(
  text: string,
  cwd: string | null,
): { readonly folder: string; readonly name: string } {
  const root = cwd === null || cwd.endsWith("/") ? cwd : `${cwd}/`;
  if (root === null || !text.startsWith(root) || text === root) return { folder: "", name: text };
  const path = text.slice(root.length);
  const at = path.lastIndexOf("/") + 1;
  return { folder: path.slice(0, at), name: path.slice(at) };
}

function pretty(value: unknown): string {
  return JSON.stringify(value, null, 2) ?? String(value);
}

/** `340 ms`, `2.2 s`, `3 min 5 s`. */
export function durationText(millis: number): string {
  if (millis < 1_000) return `${Math.round(millis)} ms`;
  const seconds = millis / 1_000;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 60) return `${Math.round(seconds)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${Math.round(seconds % 60)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** How long something ran when it waited for a person too. What was measured without the wait stays as it is. */
export function withoutWait(millis: number, waitedMillis: number): number {
  return millis >= waitedMillis ? millis - waitedMillis : millis;
}

/** Shorter waits nobody has felt. */
const minWaitMillis = 1_000;

/** `waited for you 3 min 5 s`; null where nobody was waited for, or hardly. */
export function waitedText(waitedMillis: number): string | null {
  return waitedMillis < minWaitMillis ? null : `waited for you ${durationText(waitedMillis)}`;
}

/** `1,840`, `12k`: a number of tokens, short. */
export function tokensText(count: number): string {
  if (count < 10_000) return count.toLocaleString("en");
  return count < 1_000_000 ? `${Math.round(count / 1_000)}k` : `${(count / 1_000_000).toFixed(1)}M`;
}

/** US dollars; small amounts with as many digits as say something. */
export function costText(dollars: number): string {
  return dollars >= 0.995 || dollars === 0 ? `$${dollars.toFixed(2)}` : `$${dollars.toPrecision(2)}`;
}
