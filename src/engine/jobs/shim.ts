/** Every signal that a job may send to its own group, and that must not stop the shim from writing the status. */
const survived = "HUP INT QUIT TERM USR1 USR2 ALRM PIPE";

/**
 * The leader of a job's process group. `$0` is the shell, `$1` the command, `$2` the file for the exit status.
 *
 * - Signals are caught, not ignored: an ignored signal would be inherited and the job would be deaf; a caught one is back
 *   at its default in the command. A signal that comes before the command was started ends it (`stop`).
 * - State is kept in positional parameters: a variable could be one that the environment exports to the command.
 * - The command runs in the foreground: a background one would ignore INT and QUIT. It gets the log as stderr through a
 *   subshell, so that the shell's own "Terminated" goes to /dev/null.
 * - The umask changes only after the command has ended. The status is written beside its place and renamed.
 */
const shimScript = `exec 3>&2 4>&- 5>&- 6>&- 7>&- 8>&- 9>&- 2>/dev/null
trap 'set -- "$1" "$2" stop' ${survived}
( [ -z "$3" ] || exit 143
exec "$0" -c -- "$1" 2>&3 3>&- )
code=$?
exec >/dev/null 3>&-
trap '' ${survived}
umask 077
PATH=$PATH:/usr/bin:/bin
echo "$code" >"$2.tmp" && mv -f "$2.tmp" "$2"
exit "$code"
`;

/**
 * Arguments for `shell` that run `command` byte for byte under the shim. `exitFile` must be absolute. `--` keeps a command
 * that begins with `-` or `+` from being read as options.
 */
export function shimArguments(shell: string, command: string, exitFile: string): string[] {
  return ["-c", shimScript, shell, command, exitFile];
}

/** The status in an exit file; null when it is not whole (docs/protocol.md, "Jobs"). */
export function parseExitFile(rawText: string): number | null {
  const found = /^(\d{1,3})\n$/.exec(rawText);
  if (!found) return null;
  const code = Number(found[1]);
  return code <= 255 ? code : null;
}
