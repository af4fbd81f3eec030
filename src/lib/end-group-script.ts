/** Every signal that somebody may send to a group and that must not stop its watchdog from doing its work. */
export const survivedSignals = "HUP INT QUIT TERM USR1 USR2 ALRM PIPE";
/** Fifths of a second between SIGTERM and SIGKILL. */
const graceSteps = 15;
/** How often SIGKILL is repeated for processes that left the group and fork on. */
const sweeps = 10;

/**
 * Shell functions (POSIX) for the leader of a process group that ends what runs below it:
 *
 * - `_sp_end_group`: SIGTERM for the group, and SIGKILL three seconds later, or as soon as `_sp_is_over`, which a caller may
 *   define anew.
 * - `_sp_finish_group`: SIGKILL for the group at once, its leader with it.
 *
 * Both end what left the group (setsid) too (Linux). It is found by its mark in the environment and, where it wiped that,
 * by its parents, as long as they live: so they are looked up before the first signal. A process that did both and whose
 * parent has ended is nobody's any more and stays. The search itself is deaf: the SIGTERM for the group must not end it
 * before it has found anything.
 *
 * @param mark `NAME=value` as a word inside of double quotes of the shell, as `JOB=$_sp_mark`
 */
export function endGroupFunctions(mark: string): string {
  return `${strayFunction(mark)}
_sp_is_over() { return 1; }
_sp_kin=
_sp_seek_kin() {
  _sp_seen=" $$ " _sp_found=1
  for _sp_one in $_sp_kin; do _sp_seen="$_sp_seen\${_sp_one%/*} "; done
  while [ "$_sp_found" ]; do
    _sp_found=
    for _sp_path in /proc/[0-9]*/stat; do
      _sp_pid=\${_sp_path#/proc/} _sp_pid=\${_sp_pid%/stat}
      case $_sp_seen in *" $_sp_pid "*) continue ;; esac
      read -r _sp_stat <"$_sp_path" || continue
      set -- \${_sp_stat##*) }
      case $_sp_seen in *" $2 "*) ;; *) continue ;; esac
      _sp_seen="$_sp_seen$_sp_pid " _sp_found=1
      [ "$3" = "$$" ] || _sp_kin="$_sp_kin $_sp_pid/\${20}"
    done
  done
}
_sp_signal_kin() {
  _sp_signal=$1
  for _sp_one in $_sp_kin; do
    read -r _sp_stat <"/proc/\${_sp_one%/*}/stat" || continue
    set -- \${_sp_stat##*) }
    [ "$1" != Z ] && [ "\${20}" = "\${_sp_one#*/}" ] && kill -s "$_sp_signal" "\${_sp_one%/*}"
  done
}
_sp_finish_group() {
  _sp_seek_kin
  _sp_signal_kin KILL
  _sp_step=0
  while [ "$_sp_step" -lt ${sweeps} ] && _sp_strays KILL; do _sp_step=$((_sp_step + 1)); done
  kill -s KILL -- "-$$"
}
_sp_end_group() {
  _sp_seek_kin
  kill -s TERM -- "-$$"
  _sp_signal_kin TERM
  _sp_strays TERM
  _sp_step=0
  while [ "$_sp_step" -lt ${graceSteps} ] && ! _sp_is_over; do sleep 0.2; _sp_step=$((_sp_step + 1)); done
  _sp_finish_group
}`;
}

/** `_sp_strays SIGNAL`: sends it to all that carry the mark and are not in the shell's own group; true when there was one. */
export function strayFunction(mark: string): string {
  return `_sp_strays() {
  _sp_signal=$1 _sp_found=1
  for _sp_path in $(trap '' ${survivedSignals}; grep -l -s -F -- "${mark}" /proc/[0-9]*/environ); do
    _sp_pid=\${_sp_path#/proc/} _sp_pid=\${_sp_pid%/environ}
    read -r _sp_stat <"/proc/$_sp_pid/stat" || continue
    set -- \${_sp_stat##*) }
    [ "$1" != Z ] && [ "$3" != "$$" ] && kill -s "$_sp_signal" "$_sp_pid" && _sp_found=0
  done
  return "$_sp_found"
}`;
}
