import { describe, expect, it } from "vitest";
import { judgeCall } from "../../../src/engine/rules/judge-call.ts";
import type { Mode } from "../../../src/protocol/objects.ts";

const cwd = "/srv/api";
function bash(line: string, mode: Mode, allow: string[] = [], deny: string[] = [], session: string[] = []) {
  return judgeCall({ tool: "bash", subject: line, cwd }, mode, { allow, deny }, session);
}
function edit(path: string, mode: Mode, allow: string[] = [], deny: string[] = [], session: string[] = []) {
  return judgeCall({ tool: "edit", subject: path, cwd }, mode, { allow, deny }, session);
}

describe("a command without rules", () => {
  it("asks in ask and edits and runs in autopilot", () => {
    expect(bash("touch x", "ask").verdict).toBe("ask");
    expect(bash("touch x", "edits").verdict).toBe("ask");
    expect(bash("touch x", "autopilot").verdict).toBe("allow");
    expect(bash("echo $(id) > out; { ls; }", "autopilot").verdict).toBe("allow");
  });
});

describe("an allow rule", () => {
  const allow = ["bash(git status)", "bash(wc *)", "bash(ls *)", "bash(grep 'a b' *)"];
  it.each([
    "git status",
    "  git   status ",
    "'git' stat\"us\"",
    "wc",
    "wc -l a b",
    "wc -l < /dev/null",
    "ls -l 2>/dev/null | wc -l",
    "ls a && wc b || git status; ls c & wc d",
    "ls a\nwc b\n",
    "ls |& wc",
    "ls 2>&1 | wc",
    "grep 'a b' x",
    'grep a\\ b "x"',
    "wc 'grün $x `y` *' \"größe\"",
    "ls >/dev/null 2>&1 &",
  ])("allows %j", (line) => {
    expect(bash(line, "ask", allow).verdict).toBe("allow");
  });

  it.each([
    ["another argument", "git status -s"],
    ["another program after an allowed one", "ls; rm x"],
    ["another program before", "rm x; ls"],
    ["another in a pipe", "ls | sh"],
    ["another in the background", "ls & rm x"],
    ["another on a second line", "ls\nrm x"],
    ["a program of the same name elsewhere", "./wc x"],
    ["an absolute path", "/tmp/wc x"],
    ["a parent path", "../bin/wc"],
    ["another case", "WC x"],
    ["command substitution", "wc $(rm x)"],
    ["backquotes", "wc `rm x`"],
    ["backquotes in double quotes", 'wc "`rm x`"'],
    ["substitution in double quotes", 'wc "$(rm x)"'],
    ["a variable", "wc $HOME"],
    ["a braced variable", "wc $" + "{x:-$(rm y)}"],
    ["arithmetic", "wc $((1))"],
    ["process substitution", "wc <(rm x)"],
    ["ansi-c quoting", "wc $'a\\'; rm x #'"],
    ["locale quoting", 'wc $"x"'],
    ["tilde", "wc ~/x"],
    ["tilde after equals", "wc a=~root"],
    ["star", "wc *"],
    ["question mark", "wc ?"],
    ["bracket", "wc [ab]"],
    ["brace expansion", "wc {a,b}"],
    ["leading assignment", "PATH=. wc x"],
    ["assignment alone", "PATH=."],
    ["append assignment", "PATH+=. wc x"],
    ["output to a file", "wc x > y"],
    ["appending", "wc x >> ~/.bashrc"],
    ["input from a file", "wc < y"],
    ["clobber", "wc x >| y"],
    ["read and write", "wc x <> y"],
    ["both streams to /dev/null, which dash reads as background", "wc x &>/dev/null"],
    ["a descriptor of two digits, which dash reads as a word", "wc 22>/dev/null"],
    ["a descriptor variable", "wc {fd}>/dev/null"],
    ["a descriptor from a word", "wc >&x"],
    ["/dev/null climbed out of", "wc > /dev/null/../../tmp/x"],
    ["a redirection alone", "> /dev/null"],
    ["a redirection first", ">/dev/null wc x"],
    ["heredoc", "wc <<E\nx\nE"],
    ["heredoc that hides a command", "wc <<'E'\nE\nrm x"],
    ["here-string", "wc <<< x"],
    ["subshell", "(wc x)"],
    ["group", "{ wc x; }"],
    ["function", "wc() { rm x; }\nwc x"],
    ["negation", "! wc x"],
    ["time", "time wc x"],
    ["coproc", "coproc wc x"],
    ["if", "if wc x; then wc y; fi"],
    ["for", "for f in a; do wc x; done"],
    ["test command", "[[ a ]]"],
    ["arithmetic command", "((x))"],
    ["alias", "alias wc=rm\nwc x"],
    ["exported path", "export PATH=.; wc x"],
    ["carriage return", "wc x\r"],
    ["carriage return and line feed", "wc x\r\nls"],
    ["NUL", "wc x\0"],
    ["tab", "wc\tx"],
    ["vertical tab", "wc\vx"],
    ["escape", "wc '\u001b[8m'"],
    ["no-break space", "wc\u00a0x"],
    ["ideographic space", "wc\u3000x"],
    ["no-break space in quotes", "wc 'a\u00a0b'"],
    ["line separator", "wc 'a\u2028b'"],
    ["bidi override", "wc 'a\u202eb'"],
    ["zero width space", "wc 'a\u200bb'"],
    ["lone surrogate", "wc '\ud800'"],
    ["unquoted umlaut", "wc grün"],
    ["a character that could swallow a backslash", 'wc "\u4f60\\"; rm x #"'],
    ["backslash newline", "wc \\\nx"],
    ["backslash newline in an operator", "wc x &\\\n& rm y"],
    ["backslash newline in a word", "w\\\nc x"],
    ["backslash at the end", "wc x \\"],
    ["comment", "wc x # y"],
    ["comment that eats an operator", "wc x #; ls"],
    ["unclosed single quote", "wc 'x"],
    ["unclosed double quote", 'wc "x'],
    ["unclosed substitution", "wc $("],
    ["operator at the end", "wc x &&"],
    ["operator at the beginning", "&& wc x"],
    ["double semicolon", "wc x;; ls"],
    ["lone parenthesis", "wc )"],
    ["exclamation mark", "wc !x"],
    ["caret", "wc x ^ rm"],
    ["empty program", "'' x"],
    ["empty line", "   "],
    ["newline before an operator", "wc x\n&& ls"],
    ["over-long", `wc ${"x".repeat(17_000)}`],
    ["nested without end", `wc ${"$(".repeat(3_000)}`],
  ])("asks about %s", (_, line) => {
    expect(bash(line, "ask", allow).verdict).toBe("ask");
    expect(bash(line, "edits", allow).verdict).toBe("ask");
  });

  it("ignores a rule that cannot be read", () => {
    expect(bash("rm x", "ask", ["rm *", "bash(rm $x)", "bash()", "Bash(rm *)"]).verdict).toBe("ask");
  });
  it("with printf -v and a builtin that changes the shell is not enough", () => {
    expect(bash("printf -v PATH /tmp/evil; wc x", "ask", ["bash(printf *)", ...allow]).verdict).toBe("ask");
    expect(bash("hash -p /bin/rm wc; wc x", "ask", ["bash(hash *)", ...allow]).verdict).toBe("ask");
  });
  it("for the exact line allows a builtin, since a person read all of it", () => {
    expect(bash("export A=1 && make", "ask", ["bash(export A=1 && make)"]).verdict).toBe("allow");
  });
});

describe("a deny rule", () => {
  const deny = ["bash(rm *)"];
  const modes: Mode[] = ["ask", "edits", "autopilot"];
  it.each([
    "rm x",
    "rm",
    'r""m x',
    "\\rm x",
    "'rm' x",
    "r\\m x",
    "/bin/rm x",
    "/tmp/../bin/rm x",
    "RM x",
    "ls; rm x",
    "ls | rm x",
    "ls &\nrm x",
    "env rm x",
    "env -i A=b rm x",
    "command rm x",
    "sudo -u root rm x",
    "xargs rm",
    "xargs -0 /bin/rm -f",
    "exec rm x",
    "nohup rm x &",
    "timeout 5 rm x",
    "busybox rm x",
    "find . -exec rm '{}' +",
    "sh -c 'rm x'",
    "bash -lc 'cd /; rm -rf x'",
    'sh -c "env rm x"',
    "eval 'rm x'",
    "rm $HOME/x",
    "rm *",
    "x=1 rm y",
    "(rm x)",
    "if true; then rm x; fi",
    "echo $(rm x)",
    'echo "`rm x`"',
    "f() { rm x; }; f",
    "rm x > log",
    "! rm x",
    "time rm x",
  ])("denies %j in every mode, whatever is allowed", (line) => {
    for (const mode of modes)
      expect(bash(line, mode, ["bash(*)"], deny)).toEqual({ verdict: "deny", by: "bash(rm *)" });
  });

  it.each([
    "$(echo rm) x",
    "$X x",
    "r$" + "{e}m x",
    "`echo rm` x",
    "r{m,} x",
    "/bin/r? x",
    "echo x | sh",
    "sh script.sh",
    "sh -c 'r\"\"m' x",
    "python3.12 -c 'import os'",
    "awk 'BEGIN { system(\"x\") }'",
    "./rm2 x",
    "git -c 'alias.x=!rm y' x",
    "git -c 'alias.x=!r\"\"m y' x",
    "tar --to-command=rm -xf a.tar",
    "make CMD='r\\m' x",
    "npm exec -- rm x",
    "alias l=ls",
    "trap 'true' EXIT",
    "source x",
    "echo 'unclosed",
    "echo \u00a0rm",
    "npx rimraf x",
    "docker run -v /:/h alpine true",
    "ssh host true",
  ])("asks about %j in autopilot, since it cannot be seen through", (line) => {
    expect(bash(line, "autopilot", [], deny).verdict).toBe("ask");
  });

  it.each(["touch x", "echo rm", "ls -la && git status", "npm test", "cat 'rm'", "make all 2>&1 | tail -5"])(
    "lets %j run in autopilot",
    (line) => {
      expect(bash(line, "autopilot", [], deny)).toEqual({ verdict: "allow", by: "autopilot" });
    },
  );

  it("with a subcommand asks when options or another spelling stand before it", () => {
    const push = ["bash(git push *)"];
    expect(bash("git push origin", "autopilot", [], push).verdict).toBe("deny");
    expect(bash("git -C . push", "autopilot", [], push).verdict).toBe("ask");
    expect(bash("git status", "autopilot", [], push).verdict).toBe("allow");
    const force = ["bash(rm -rf *)"];
    expect(bash("rm -rf x", "autopilot", [], force).verdict).toBe("deny");
    expect(bash("rm -fr x", "autopilot", [], force).verdict).toBe("ask");
    expect(bash("rm x -r -f", "autopilot", [], force).verdict).toBe("ask");
    expect(bash("rm x", "autopilot", [], force).verdict).toBe("allow");
  });
  it("for everything denies everything", () => {
    for (const line of ["ls", "$X", "echo $(ls)"])
      expect(bash(line, "autopilot", ["bash(*)"], ["bash(*)"]).verdict).toBe("deny");
  });
  it("that cannot be read lets nothing run by itself", () => {
    expect(bash("ls", "autopilot", ["bash(ls)"], ["rm *"]).verdict).toBe("ask");
    expect(edit("/srv/api/a", "autopilot", [], ["rm *"]).verdict).toBe("ask");
  });
  it("for paths leaves commands alone", () => {
    expect(bash("echo $HOME", "autopilot", [], ["edit(x)"]).verdict).toBe("allow");
  });
});

describe("what allow_session remembers", () => {
  const remembered = (line: string) => {
    const verdict = bash(line, "ask");
    return verdict.verdict === "ask" ? verdict.allowSession : "no question";
  };
  it.each([
    ["wc -l x", "bash(wc *)"],
    ["cat a b", "bash(cat *)"],
    ["cargo test", "bash(cargo test)"],
    ["git log -p", "bash(git log -p)"],
    ["sort -u x", "bash(sort -u x)"],
    ["find . -name '*.c'", "bash(find . -name '*.c')"],
    ["grep '*' x | wc -l", "bash(grep '*' x | wc -l)"],
    ["/usr/bin/wc x", "bash(/usr/bin/wc x)"],
    ["echo ')' x && make", "bash(echo ')' x && make)"],
    ["export A=1", "bash(export A=1)"],
    ["wc *", null],
    ["echo $HOME", null],
    ["rm x > y", null],
    [`make ${"x".repeat(5_000)}`, null],
  ])("for %j is %j", (line, rule) => {
    expect(remembered(line)).toBe(rule);
  });
  it("allows this line and no other afterwards", () => {
    const rule = remembered("find . -name '*.c'") ?? "";
    expect(bash("find . -name '*.c'", "ask", [], [], [rule]).verdict).toBe("allow");
    expect(bash("find . -name xx.c", "ask", [], [], [rule]).verdict).toBe("ask");
    expect(bash("find . -name '*.c' -delete", "ask", [], [], [rule]).verdict).toBe("ask");
  });
  it.each(
    "sh bash env xargs sudo git ssh find docker npx npm make sort uniq sed awk tee rg tar diff less printf date test".split(
      " ",
    ),
  )("never stands for the program %s", (program) => {
    expect(remembered(`${program} x`)).toBe(`bash(${program} x)`);
  });
});

describe("an edit", () => {
  it("asks in ask, is allowed in edits below the tab's folder and everywhere in autopilot", () => {
    expect(edit("/srv/api/src/a.ts", "ask")).toEqual({ verdict: "ask", allowSession: "edit(src/a.ts)" });
    expect(edit("/srv/api/src/a.ts", "edits").verdict).toBe("allow");
    expect(edit("/srv/other/a.ts", "edits").verdict).toBe("ask");
    expect(edit("/srv/api", "edits").verdict).toBe("ask");
    expect(edit("/srv/apix/a", "edits").verdict).toBe("ask");
    expect(edit("/srv/other/a.ts", "autopilot").verdict).toBe("allow");
  });
  it.each([
    ".git/config",
    "sub/.git/hooks/pre-commit",
    ".GIT/config",
    ".Git./config",
    ".git /config",
    ".git::$INDEX_ALLOCATION/config",
    "GIT~1/config",
    ".g\u200cit/config",
    ".\uff47it/config",
    ".git",
    ".claude/settings.json",
    ".sallyport/config.toml",
    ".envrc",
    ".vscode/tasks.json",
    ".idea/x.xml",
    ".github/workflows/ci.yml",
    ".gitlab-ci.yml",
    ".husky/pre-commit",
    ".npmrc",
    ".bashrc",
    "a/b/.zshrc",
    "CLAUDE.md",
    "Jenkinsfile",
    "x.code-workspace",
    "sub\\.git\\config",
  ])("of %j still asks in edits", (path) => {
    expect(edit(`/srv/api/${path}`, "edits").verdict).toBe("ask");
    expect(edit(`/srv/api/${path}`, "edits", ["edit(**)"]).verdict).toBe("ask");
  });
  it("of a protected path is allowed by a rule that names it", () => {
    expect(edit("/srv/api/.github/x.yml", "ask", ["edit(.github/**)"]).verdict).toBe("allow");
  });
  it.each(["relative/a", "/srv/api/../../etc/passwd", "/srv/api/a\0b", ""])("of %j asks", (path) => {
    expect(edit(path, "edits", ["edit(**)", "edit(/**)"]).verdict).toBe("ask");
    expect(edit(path, "autopilot", [], ["edit(x)"]).verdict).toBe("ask");
  });
  it("is denied first, in another case or composition too", () => {
    for (const path of ["/srv/api/secrets/a", "/srv/api/SECRETS/a", "/srv/api//secrets/./a"])
      expect(edit(path, "autopilot", ["edit(**)"], ["edit(secrets/**)"]).verdict).toBe("deny");
    expect(edit("/srv/api/src/a", "autopilot", [], ["edit(secrets/**)"]).verdict).toBe("allow");
  });
  it.each([
    ["edit(src/*.ts)", "/srv/api/src/a.ts", true],
    ["edit(src/*.ts)", "/srv/api/src/sub/a.ts", false],
    ["edit(src/**)", "/srv/api/src/sub/a.ts", true],
    ["edit(**/a.ts)", "/srv/api/a.ts", true],
    ["edit(/srv/**)", "/srv/api/a.ts", true],
    ["edit(/srv/api/a?.ts)", "/srv/api/ab.ts", true],
    ["edit(a\\*b)", "/srv/api/a*b", true],
    ["edit(a\\*b)", "/srv/api/axb", false],
  ])("rule %s on %s matches: %s", (rule, path, allowed) => {
    expect(edit(path, "ask", [rule]).verdict).toBe(allowed ? "allow" : "ask");
  });
  it("remembered for the session is this file only, whatever its name", () => {
    const verdict = edit("/srv/api/a*(b)?", "ask");
    const rule = verdict.verdict === "ask" ? (verdict.allowSession ?? "") : "";
    expect(edit("/srv/api/a*(b)?", "ask", [], [], [rule]).verdict).toBe("allow");
    expect(edit("/srv/api/ax(b)y", "ask", [], [], [rule]).verdict).toBe("ask");
  });
});
