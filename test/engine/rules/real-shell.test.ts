import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { judgeCall } from "../../../src/engine/rules/judge-call.ts";

/** Every stub notes its own name and its words, so that we see what a shell made of a line. */
const programs = ["aa", "bb", "cc", "evil", "if", "time", "alias2"];
const rules = { allow: ["bash(aa *)", "bash(bb x *)", "bash(cc 'a b')"], deny: [] };
const isAllowed = ([program, ...words]: string[]): boolean =>
  program === "aa" ||
  (program === "bb" && words[0] === "x") ||
  (program === "cc" && words.length === 1 && words[0] === "a b");

const shells = ["/bin/sh", "/bin/bash", "/bin/dash"].filter((path) => existsSync(path));
let folder = "";

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "sallyport-rules-"));
  mkdirSync(join(folder, "bin"));
  for (const program of programs) {
    const path = join(folder, "bin", program);
    writeFileSync(path, `#!/bin/sh\nprintf '%s\\037' ${program} "$@" > "$RECORD/$$"\n`);
    chmodSync(path, 0o755);
  }
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs a line as the shell runtime does and returns the calls that happened, in any order. */
function callsOf(shell: string, line: string): string[][] {
  // One file per process: calls of a pipeline run at the same time.
  const record = mkdtempSync(join(folder, "record-"));
  // The trailing wait is a line of its own: what runs in the background is seen too.
  spawnSync(shell, ["-c", `${line}\nwait`], {
    argv0: "sh",
    cwd: folder,
    env: { PATH: join(folder, "bin"), RECORD: record, LC_ALL: "C.UTF-8" },
    stdio: "ignore",
    timeout: 60_000,
  });
  const calls = readdirSync(record).map((name) =>
    readFileSync(join(record, name), "utf8").split("\u001f").slice(0, -1),
  );
  rmSync(record, { recursive: true });
  return calls;
}

const word = fc.constantFrom(
  ...'aa bb cc evil x y \'a_b\' "x" x\\ y a""a e\'v\'il \\evil ./evil $E $(evil) `evil` "$(evil)" "`evil`" * ? ~ {aa,evil}'.split(
    " ",
  ),
  "$" + "{E}",
  "'a b'",
  '"a b"',
  "a\\ b",
  "#",
  "evil#",
  "E=evil",
  "alias",
  "aa=evil",
  "if",
  "time",
  "!",
  "{",
  "}",
  "\\\n",
  "'",
  '"',
  "\\",
  "é",
  "'é'",
  "\u00a0",
  "\r",
  "\t",
  "2",
  "export",
  "eval",
  "env",
  "PATH=.",
  "--",
  "<<E",
  "E",
  "$'\\''",
  "<(evil)",
);
const joint = fc.constantFrom(
  " ",
  " ",
  " ",
  " ",
  "  ",
  "",
  "&&",
  "||",
  ";",
  "|",
  "&",
  "|&",
  "\n",
  ";;",
  "& &",
  "( ",
  " )",
  " &&\n",
  " |\n",
  "\\",
  ">&",
  ">",
  " >/dev/null ",
  " 2>&1 ",
  " </dev/null ",
  " 12>/dev/null ",
  " &>/dev/null ",
  " # ",
  "<<",
  "<<<",
  "\n\n",
  " ; ",
  " | ",
);
const line = fc
  .array(fc.tuple(word, joint), { minLength: 1, maxLength: 7 })
  .map((parts) => parts.map(([text, between]) => text + between).join(""));
/** Lines near the allowed ones, so that many pass. */
const nearLine = fc
  .array(
    fc.tuple(
      fc.constantFrom(
        "aa",
        "bb x",
        "cc 'a b'",
        "'aa' y",
        'b"b" x',
        "cc a\\ b",
        "\\aa",
        "evil",
        "aa evil",
        "bb",
        "aa 'é' \"#\"",
      ),
      fc.constantFrom(
        " y",
        "",
        " 'z;evil'",
        ' "&& evil"',
        " >/dev/null",
        " 2>&1",
        " \\;evil",
        " \\\\",
        ' "\\a\\\\"',
        " >&-",
        " 3</dev/null",
      ),
      fc.constantFrom("&&", " || ", ";", " | ", "&", " |& ", "\n", "\n\n", "&&\n", " & ", ";\n"),
    ),
    { minLength: 1, maxLength: 4 },
  )
  .map((parts) =>
    parts
      .map((part) => part.join(""))
      .join("")
      .replace(/(?:&&|\|\|?&?)\s*$/, ""),
  );

describe("a line that rules allow", () => {
  it("runs nothing in a real sh but what the rules allow, word for word", () => {
    expect(shells.length).toBeGreaterThan(0);
    let allowed = 0;
    fc.assert(
      fc.property(fc.oneof(line, nearLine, nearLine), (subject) => {
        const verdict = judgeCall({ tool: "bash", subject, cwd: folder }, "ask", rules, []);
        if (verdict.verdict !== "allow") return;
        allowed += 1;
        for (const shell of shells)
          for (const call of callsOf(shell, subject))
            expect(isAllowed(call), `${shell}: ${JSON.stringify(call)}`).toBe(true);
      }),
      { numRuns: Number(process.env.RULES_RUNS ?? 400) },
    );
    expect(allowed).toBeGreaterThan(10);
  });

  it("runs with exactly the words that were matched", () => {
    const subject =
      "cc 'a b' && bb x 'q;evil' \"\\a\\$\" \\& \\\\ y 2>/dev/null | aa 'é' >/dev/null; aa \"\"\nbb x &";
    expect(judgeCall({ tool: "bash", subject, cwd: folder }, "ask", rules, []).verdict).toBe("allow");
    for (const shell of shells.filter((path) => !path.endsWith("sh") || path === "/bin/sh")) {
      const calls = callsOf(shell, subject);
      expect(calls).toHaveLength(5);
      expect(calls).toEqual(
        expect.arrayContaining([
          ["cc", "a b"],
          ["bb", "x", "q;evil", "\\a$", "&", "\\", "y"],
          ["aa", "é"],
          ["aa", ""],
          ["bb", "x"],
        ]),
      );
    }
  });
});
