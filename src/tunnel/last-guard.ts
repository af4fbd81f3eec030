import { type ChildProcess, spawn } from "node:child_process";
import { strayFunction, survivedSignals } from "../lib/end-group-script.ts";
import type { ProcessIdentity } from "../lib/process-identity.ts";
import { runMark } from "./watchdog.ts";

/** Longer than a watchdog takes to end its group. */
const patienceSeconds = 5;
const sweeps = 10;

/**
 * Outside of the tool's group, where no signal of the tool's reaches: a group that stopped itself (SIGSTOP) has its own
 * watchdog stopped with it. At the end of its input, which only the daemon writes to, it waits for the watchdog to do its
 * work and kills what is left; any word tells that there is nothing to do. `$1` is the group, `$2` when its leader was
 * started, `$3` the mark of the run.
 */
const script = `trap : ${survivedSignals}
PATH=$PATH:/usr/bin:/bin
_sp_group=$1 _sp_start=$2 _sp_mark=$3
${strayFunction(`${runMark}=$_sp_mark`)}
while :; do
  read -r _sp_word
  _sp_code=$?
  [ "$_sp_code" -gt 128 ] || break
done
[ "$_sp_code" -eq 0 ] && exit
sleep ${patienceSeconds}
if [ -r "/proc/$_sp_group/stat" ]; then
  read -r _sp_stat <"/proc/$_sp_group/stat"
  set -- \${_sp_stat##*) }
  [ "\${20}" = "$_sp_start" ] && kill -s KILL -- "-$_sp_group"
elif [ "$(LC_ALL=C ps -o lstart= -p "$_sp_group" | xargs)" = "$(echo "$_sp_start" | xargs)" ]; then
  [ "$_sp_start" ] && kill -s KILL -- "-$_sp_group"
fi
_sp_step=0
while [ "$_sp_step" -lt ${sweeps} ] && _sp_strays KILL; do _sp_step=$((_sp_step + 1)); done
`;

export interface LastGuard {
  /** The tool is gone, or is left to another daemon. Resolves when the guard was told; never rejects. */
  dismiss(): Promise<void>;
}

/** Watches over a tool's watchdog for as long as this process lives. */
export function startLastGuard({ pid, start }: ProcessIdentity, generation: string): LastGuard {
  const guard: ChildProcess = spawn(
    "/bin/sh",
    ["-c", script, "sallyport-tunnel-guard", String(pid), start, generation],
    { cwd: "/", env: { PATH: process.env.PATH }, detached: true, stdio: ["pipe", "ignore", "ignore"] },
  );
  // Without it the watchdog is all there is, as before.
  guard.on("error", () => undefined);
  guard.stdin?.on("error", () => undefined);
  guard.unref();
  return {
    dismiss: () =>
      new Promise((resolve) => {
        const { stdin } = guard;
        if (stdin === null || stdin.destroyed || stdin.writableEnded) return resolve();
        stdin.once("close", resolve);
        stdin.end("dismissed\n", () => resolve());
      }),
  };
}
