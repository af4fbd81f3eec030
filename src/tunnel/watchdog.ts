import { endGroupFunctions, survivedSignals } from "../lib/end-group-script.ts";

/** In the environment of a tool and of all that it starts: which run they belong to. Not a name that a tool reads itself. */
export const runMark = "SP_TUNNEL_RUN";

/** How long a handed-over tunnel waits for the daemon that follows. */
const handOverSeconds = 30;

/**
 * The leader of a tunnel's process group. `$1` is a name for a pipe in the file system, `$2` the file for the exit status,
 * then follow the program and its arguments. Its input is a pipe that only the daemon writes to and that nobody inherits.
 *
 * - A guard reads that pipe. At its end (the daemon closed it, or died in whatever way) the guard ends the whole group:
 *   SIGTERM, and SIGKILL three seconds later.
 * - The word `handover` announces that the daemon ends and another one follows: the guard makes the named pipe, and hangs
 *   on its writer from then on. If none comes in time, the group ends.
 * - When the program has ended, its status is written and the rest of the group is killed: no helper stays behind. The guard
 *   does it, because it may know more of what left the group; the leader where the guard is gone or does not hear.
 * - A process that left the group (setsid) is found by its mark in the environment (Linux), and ended with it.
 * - Signals are caught, not ignored: an ignored signal is inherited, and the program would be deaf.
 */
const script = `trap : ${survivedSignals}
umask 077
_sp_pipe=$1 _sp_exit=$2
shift 2
${endGroupFunctions(`${runMark}=$${runMark}`)}
_sp_is_over() { [ -e "$_sp_exit" ]; }
exec 3<&0 </dev/null
(
trap : ${survivedSignals}
exec >/dev/null 2>&1
PATH=$PATH:/usr/bin:/bin
while :; do
  read -r _sp_word <&3
  _sp_code=$?
  _sp_is_over && _sp_finish_group
  [ "$_sp_code" -gt 128 ] && continue
  [ "$_sp_code" -eq 0 ] && [ "$_sp_word" = handover ] || break
  rm -f "$_sp_pipe"
  mkfifo -m 600 "$_sp_pipe" || break
  ( trap - ${survivedSignals}; sleep ${handOverSeconds}; echo late >"$_sp_pipe" ) &
  _sp_timer=$!
  exec 3<"$_sp_pipe"
  rm -f "$_sp_pipe"
  kill "$_sp_timer"
done
_sp_end_group
) &
_sp_guard=$!
"$@" 3<&- &
_sp_child=$!
exec >/dev/null 2>&1 3<&-
while :; do
  wait "$_sp_child"
  _sp_code=$?
  kill -s 0 "$_sp_child" || break
done
PATH=$PATH:/usr/bin:/bin
echo "$_sp_code" >"$_sp_exit.tmp" && mv -f "$_sp_exit.tmp" "$_sp_exit"
kill -s USR1 "$_sp_guard" && sleep 1
_sp_finish_group
`;

/** Arguments for `/bin/sh` that run `words` under the watchdog, with `runMark` in its environment. Both paths must be absolute. */
export function watchdogArguments(pipe: string, exitFile: string, words: readonly string[]): string[] {
  return ["-c", script, "sallyport-tunnel", pipe, exitFile, ...words];
}
