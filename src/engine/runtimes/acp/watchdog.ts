/** Every signal that somebody may send to the group and that must not stop the watchdog from doing its work. */
const survived = "HUP INT QUIT TERM USR1 USR2 ALRM PIPE";
/** Fifths of a second between SIGTERM and SIGKILL. */
const graceSteps = 15;
/** How often SIGKILL is repeated for processes that left the group and fork on. */
const sweeps = 10;

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
 * - The shell's own "Terminated" goes nowhere: the agent alone writes to its errors.
 * - Signals are caught, not ignored: an ignored signal is inherited, and the agent would be deaf.
 */
const script = `trap : ${survived}
_sp_mark=$1
shift
exec 5>&2 2>/dev/null
_sp_strays() {
  _sp_signal=$1 _sp_found=1
  for _sp_path in $(trap '' ${survived}; grep -l -s -F -- "SALLYPORT_JOB=$_sp_mark" /proc/[0-9]*/environ); do
    _sp_pid=\${_sp_path#/proc/} _sp_pid=\${_sp_pid%/environ}
    read -r _sp_stat <"/proc/$_sp_pid/stat" || continue
    set -- \${_sp_stat##*) }
    [ "$1" != Z ] && [ "$3" != "$$" ] && kill -s "$_sp_signal" "$_sp_pid" && _sp_found=0
  done
  return "$_sp_found"
}
_sp_sweep() {
  _sp_step=0
  while [ "$_sp_step" -lt ${sweeps} ] && _sp_strays KILL; do _sp_step=$((_sp_step + 1)); done
}
(
trap : ${survived}
exec </dev/null >/dev/null 4>&- 5>&-
PATH=$PATH:/usr/bin:/bin
while :; do
  read -r _sp_word <&3
  [ "$?" -gt 128 ] || break
done
kill -s TERM -- "-$$"
_sp_strays TERM
_sp_step=0
while [ "$_sp_step" -lt ${graceSteps} ]; do sleep 0.2; _sp_step=$((_sp_step + 1)); done
_sp_sweep
kill -s KILL -- "-$$"
) &
SALLYPORT_JOB=$_sp_mark "$@" 2>&5 3<&- 4>&- 5>&-
_sp_code=$?
exec </dev/null >/dev/null 3<&- 5>&-
PATH=$PATH:/usr/bin:/bin
echo "$_sp_code" >&4
exec 4>&-
_sp_sweep
kill -s KILL -- "-$$"
`;

/** Arguments for `/bin/sh` that run `words`, an absolute path and its arguments, under the watchdog. */
export function watchdogArguments(mark: string, words: readonly string[]): string[] {
  return ["-c", script, "sallyport-agent", mark, ...words];
}
