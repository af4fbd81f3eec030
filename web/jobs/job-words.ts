import type { Job, JobState } from "../../src/protocol/objects.ts";

/** How a job ended, in a few words; null while it runs. */
export function endText({ state, exit_code: code, reason }: Job): string | null {
  switch (state) {
    case "running":
      return null;
    case "exited":
      return code === 0 ? "Ended well" : `Ended with status ${code ?? "unknown"}`;
    case "killed":
      return "Stopped";
    case "failed":
      return reason ?? "Could not start";
    case "lost":
      return reason ?? "Its end was not seen";
  }
}

/** The mark that it gets: one that ended with another status than 0 did not do what it should. */
export function markOf({ state, exit_code: code }: Job): JobState {
  return state === "exited" && code !== 0 ? "failed" : state;
}

/** `18 KB`, `3.4 MB`: sizes of logs. */
export function sizeText(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  const units = ["KB", "MB", "GB"] as const;
  let value = bytes / 1000;
  let unit = 0;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${value < 9.95 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
}

/** So much of a command is a title; the whole of a longer one is shown on demand. */
const titleChars = 100;

/** The first line of a command, not too long for a heading; `isWhole` says whether that is all of it. */
export function commandTitle(command: string): { readonly title: string; readonly isWhole: boolean } {
  const line = command.trim().split("\n", 1)[0] ?? "";
  const title = [...line.slice(0, 2 * titleChars)].slice(0, titleChars).join("");
  const isWhole = title === command.trim();
  return { title: isWhole ? title : `${title}…`, isWhole };
}

/** Those that run first, then the newest. */
export function sortJobs(jobs: readonly Job[]): readonly Job[] {
  const rank = (job: Job): number => (job.state === "running" ? 1 : 0);
  return [...jobs].sort((a, b) => rank(b) - rank(a) || b.started.localeCompare(a.started));
}

/** A name for the file of a log: nothing in it that a file system would take for a path. */
export function logFileName({ id, command }: Pick<Job, "id" | "command">): string {
  const words = command
    .replace(/[^A-Za-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 40);
  return `${words === "" ? "job" : words}-${id}.log`;
}
