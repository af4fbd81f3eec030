import { endGroupFunctions, survivedSignals } from "../../../lib/end-group-script.ts";

/**
 * The leader of an agent's process group. `$1` marks the agent and all that it starts (`SALLYPORT_JOB`), then follow the
 * program and its arguments. Its input, output and errors are the agent's. 3 is a pipe that only the daemon writes to and
 * that nobody inherits, 4 takes the exit status.
 *
 * - A guard reads 3. At its end (the daemon closed it, or died in whatever way) the guard ends the whole group: SIGTERM,
 *   and SIGKILL three seconds later. An agent that does not end with its input does not stay behind.
 * - The agent runs in the foreground: a background process would ignore INT and QUIT, and have no input.
 * - When it has ended, its status is told and the rest of the group is killed.
 * - A process that left the group (setsid) is found by the mark in its environment (Linux), and ended with it.
 * - The search itself is deaf: the guard's SIGTERM to the group must not end it before it has found anything.
 * - The shell's own "Terminated" goes nowhere: the agent alone writes to its errors. Some shells redirect themselves for the
 *   time of a command, so a second one does it, and becomes the agent.
 * - Signals are caught, not ignored: an ignored signal is inherited, and the agent would be deaf.
 */
const script = `trap : ${survivedSignals}
_sp_mark=$1
shift
exec 5>&2 2>/dev/null
${endGroupFunctions("SALLYPORT_JOB=$_sp_mark")}
(
trap : ${survivedSignals}
exec </dev/null >/dev/null 4>&- 5>&-
PATH=$PATH:/usr/bin:/bin
while :; do
  read -r _sp_word <&3
  [ "$?" -gt 128 ] || break
done
_sp_end_group
) &
SALLYPORT_JOB=$_sp_mark /bin/sh -c 'exec "$@" 2>&5 3<&- 4>&- 5>&-' sh "$@"
_sp_code=$?
exec </dev/null >/dev/null 3<&- 5>&-
PATH=$PATH:/usr/bin:/bin
echo "$_sp_code" >&4
exec 4>&-
_sp_finish_group
`;

/** Arguments for `/bin/sh` that run `words`, an absolute path and its arguments, under the watchdog. */
export function watchdogArguments(mark: string, words: readonly string[]): string[] {
  return ["-c", script, "sallyport-agent", mark, ...words];
}
