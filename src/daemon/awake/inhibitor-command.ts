/** A program that keeps the machine from sleeping for as long as the program that it runs lives. */
export interface InhibitorCommand {
  /** Absolute path. */
  readonly program: string;
  readonly args: readonly string[];
}

/** Either what to run, or a sentence for people on why there is nothing and what would help. */
export type InhibitorChoice =
  | { readonly commands: readonly InhibitorCommand[] }
  | { readonly missing: string };

/**
 * What the tool runs: it says when the tool got so far as to run it, which is after the lock was taken, and lives until
 * its standard input ends. That is a pipe of the daemon, so the system closes it however the daemon died.
 */
const untilWeEnd = ["/bin/sh", "-c", "echo held; exec cat >/dev/null"] as const;

const linuxTools = ["systemd-inhibit", "elogind-inhibit"] as const;

/**
 * The inhibitor of this platform: systemd-inhibit(1) or elogind's on Linux, caffeinate(8) on macOS. On Linux the lock on
 * sleep comes first; sessions that logind calls remote (ssh) may only hold the one on idleness, so that is second best.
 *
 * @param find the absolute path of a program, or null
 */
export function inhibitorCommands(
  platform: NodeJS.Platform,
  find: (name: string) => string | null,
): InhibitorChoice {
  if (platform === "darwin") {
    const program = find("caffeinate");
    if (program === null) return { missing: "caffeinate is not on the PATH of the daemon." };
    return { commands: [{ program, args: ["-i", "-s", ...untilWeEnd] }] };
  }
  if (platform === "linux") {
    for (const name of linuxTools) {
      const program = find(name);
      if (program === null) continue;
      return { commands: ["sleep:idle", "idle"].map((what) => ({ program, args: linuxArgs(what) })) };
    }
    return {
      missing:
        "Neither systemd-inhibit nor elogind-inhibit is on the PATH of the daemon. Install systemd or elogind, or switch sleep off in the system's own settings.",
    };
  }
  return { missing: `Sallyport knows no way to keep a system of the kind "${platform}" awake.` };
}

function linuxArgs(what: string): readonly string[] {
  return [
    `--what=${what}`,
    "--who=Sallyport",
    "--why=Agents or jobs are at work, or a person asked for it",
    "--mode=block",
    ...untilWeEnd,
  ];
}
