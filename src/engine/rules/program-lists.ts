/** Words that begin a construct when they stand unquoted where a command may begin (POSIX XCU 2.4, and bash's own). */
export const reservedWords: ReadonlySet<string> = new Set(
  "! { } case coproc do done elif else esac fi for function if in select then time until while [[ ]]".split(
    " ",
  ),
);

/**
 * Text tools that run no other program and write no file by any of their options, so that `allow_session` may stand for
 * the program. Left out on purpose: sort (--compress-program, -o), uniq (second operand), sed and awk (commands of their
 * own), find and xargs (-exec), diff (-l), file (-z), less and man (pagers), tee, rg (--pre), tar, date (-s), printf and
 * test (bash evaluates subscripts, sets variables), egrep and which (scripts).
 */
export const runsNothingElse: ReadonlySet<string> = new Set(
  (
    "basename b2sum cat cksum comm cut df dirname du echo expand false fmt fold grep head id join ls md5sum nl od " +
    "paste pwd readlink realpath rev seq sha1sum sha224sum sha256sum sha384sum sha512sum sleep stat sum tac tail tr " +
    "true uname unexpand wc whoami"
  ).split(" "),
);

/**
 * Programs whose arguments or input are programs themselves. Where a deny rule for commands exists, what they will run
 * cannot be seen: they ask. Versions are cut off first (python3.12 is python).
 */
const runsItsArguments: ReadonlySet<string> = new Set(
  (
    "sh bash dash ash zsh ksh mksh fish csh tcsh rbash pwsh powershell cmd busybox toybox " +
    "env command builtin exec nohup nice ionice chrt taskset timeout time stdbuf setsid setpriv script unbuffer expect " +
    "sudo doas su runuser pkexec gosu chroot unshare nsenter firejail bwrap systemd-run fakeroot proot flock lockf " +
    "xargs parallel find fd fdfind watch entr at batch crontab strace ltrace gdb lldb valgrind perf catchsegv " +
    "awk gawk mawk nawk sed ed ex vi vim nvim emacs less more man node nodejs deno bun tsx python pypy ipython perl ruby " +
    "php lua luajit tclsh wish osascript groovy scala jshell guile racket sbcl R Rscript julia elixir erl ghci runghc " +
    "npx bunx pnpx pipx uvx uv ssh scp sftp rsync mosh docker podman nerdctl kubectl lxc machinectl vagrant " +
    "screen tmux dtach dbus-run-session xdg-open open start-stop-daemon run-parts ld.so ld-linux.so nix-shell direnv"
  )
    .toLowerCase()
    .split(" "),
);

/** Builtins after which the words of a line may mean something else, or that run text. */
const shellChangers: ReadonlySet<string> = new Set(
  (
    ". alias bg bind builtin command compgen complete compopt declare enable eval exec export fc fg function getopts hash " +
    "history jobs let local mapfile read readarray readonly set shopt source test trap typeset unalias unset wait"
  ).split(" "),
);

const standardFolders: ReadonlySet<string> = new Set([
  "/bin",
  "/sbin",
  "/usr/bin",
  "/usr/sbin",
  "/usr/local/bin",
  "/opt/homebrew/bin",
]);

/** True if a command of a line may change what another one runs. `printf -v` sets a variable in bash. */
export function changesTheShell(words: readonly string[]): boolean {
  const program = words[0] ?? "";
  return shellChangers.has(program) || (program === "printf" && words[1]?.startsWith("-") === true);
}

/** The last segment of a program's path, in lower case: file systems that fold case run `RM` as rm. */
export function programName(word: string): string {
  return word.slice(word.lastIndexOf("/") + 1).toLowerCase();
}

/** True if what a call of this program runs cannot be told from its name. */
export function hidesWhatItRuns(program: string): boolean {
  const slash = program.lastIndexOf("/");
  if (slash >= 0 && !standardFolders.has(program.slice(0, slash))) return true;
  const name = programName(program);
  if (shellChangers.has(name)) return true;
  return runsItsArguments.has(name) || runsItsArguments.has(name.replace(/[-.0-9]+$/, ""));
}
