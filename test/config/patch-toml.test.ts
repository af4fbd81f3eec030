import fc from "fast-check";
import { parse, stringify } from "smol-toml";
import { describe, expect, it } from "vitest";
import { PatchError, patchToml, type SettingValue } from "../../src/config/patch-toml.ts";

const file = `# My daemon.
port = 7700 # the usual one

# Folders of mine.
[daemon]
browse_root = "/srv" # not all of it
hosts_are = """
[tls]
port = 1
"""

[rules]
allow = [
  "bash(ls *)", # listing
  # and nothing else
]

[[door]]
listen = 7800
url = "https://a.example"

[[door]]
listen = 7801
url = "https://b.example"
`;

describe("patchToml", () => {
  const rows: readonly [string, string[], SettingValue | null, (text: string) => string][] = [
    ["a value, keeping its comment", ["port"], 7701, (text) => text.replace("7700 #", "7701 #")],
    [
      "a text with quotes and a backslash",
      ["daemon", "browse_root"],
      'a"b\\c',
      (text) => text.replace('"/srv"', '"a\\"b\\\\c"'),
    ],
    [
      "a list over several lines",
      ["rules", "allow"],
      ["bash(pwd)"],
      (text) => text.replace(/allow = \[[^\]]*\]/, 'allow = [ "bash(pwd)" ]'),
    ],
    [
      "a new key behind the last of its table",
      ["daemon", "idle_minutes"],
      5,
      (text) => text.replace('port = 1\n"""\n', 'port = 1\n"""\nidle_minutes = 5\n'),
    ],
    [
      "a new key at the top",
      ["host"],
      "10.0.0.1",
      (text) => text.replace("usual one\n", 'usual one\nhost = "10.0.0.1"\n'),
    ],
    ["a new table at the end", ["jobs", "keep_days"], 3, (text) => `${text}\n[jobs]\nkeep_days = 3\n`],
    ["a removal, keeping the comment", ["port"], null, (text) => text.replace("port = 7700 ", "")],
    ["a removal of what is not there", ["jobs", "keep_days"], null, (text) => text],
  ];

  it.each(rows)("makes this change and no other: %s", (_, path, value, expected) => {
    expect(patchToml(file, path, value)).toBe(expected(file));
  });

  it("writes into an empty file, one without a last newline, and one that begins with a table", () => {
    expect(patchToml("", ["port"], 1)).toBe("port = 1\n");
    expect(patchToml("", ["daemon", "idle_minutes"], 1)).toBe("[daemon]\nidle_minutes = 1\n");
    expect(patchToml("port = 1", ["host"], "::1")).toBe('port = 1\nhost = "::1"\n');
    expect(patchToml("# head\n\n# of it\n[daemon]\n", ["port"], 1)).toBe(
      "# head\n\nport = 1\n\n# of it\n[daemon]\n",
    );
  });

  it("keeps line ends of Windows", () => {
    expect(patchToml("port = 1 # x\r\n[daemon]\r\n", ["daemon", "idle_minutes"], 2)).toBe(
      "port = 1 # x\r\n[daemon]\r\nidle_minutes = 2\r\n",
    );
    expect(patchToml("port = 1 # x\r\n", ["port"], 2)).toBe("port = 2 # x\r\n");
  });

  it.each([
    ["an inline table", "daemon = { idle_minutes = 1 }\n", ["daemon", "browse_root"]],
    ["dotted keys that define the table", "daemon.idle_minutes = 1\n", ["daemon", "browse_root"]],
    ["a key with an escape", '"a\\u0062" = 1\n', ["port"]],
  ])("refuses %s rather than lose anything", (_, text, path) => {
    expect(() => patchToml(text, path, "/srv")).toThrow(PatchError);
  });

  it("changes a value whose key is dotted or quoted", () => {
    expect(patchToml("daemon.idle_minutes = 1\n", ["daemon", "idle_minutes"], 2)).toBe(
      "daemon.idle_minutes = 2\n",
    );
    expect(patchToml('[agents."x"]\n"command" = "a"\n', ["agents", "x", "command"], "b")).toBe(
      '[agents."x"]\n"command" = "b"\n',
    );
  });

  it("either makes exactly the change or refuses, whatever the text", () => {
    const key = fc.constantFrom("port", "host", "idle", "a b", 'q"q');
    const value = fc.oneof(
      fc.string(),
      fc.integer(),
      fc.boolean(),
      fc.array(fc.string({ unit: "grapheme" }), { maxLength: 3 }),
    );
    const table = fc.dictionary(key, value, { maxKeys: 4 });
    const doc = fc.tuple(table, fc.dictionary(fc.constantFrom("daemon", "tls", "x y"), table));
    fc.assert(
      fc.property(doc, fc.array(key, { minLength: 1, maxLength: 2 }), value, ([top, tables], path, next) => {
        const text = `# kept\n${stringify({ ...tables, ...top })}\n# kept too`;
        let patched: string;
        try {
          patched = patchToml(text, path, next);
        } catch (error) {
          expect(error).toBeInstanceOf(PatchError);
          return;
        }
        expect(patched).toContain("# kept\n");
        expect(patched).toContain("# kept too");
        const [before, after] = [parse(text), parse(patched)];
        let at: unknown = after;
        for (const part of path) at = (at as Record<string, unknown>)[part];
        expect(at).toEqual(next);
        const [first = ""] = path;
        expect(
          Object.keys(after)
            .filter((each) => each !== first)
            .sort(),
        ).toEqual(
          Object.keys(before)
            .filter((each) => each !== first)
            .sort(),
        );
      }),
      { numRuns: 300 },
    );
  });
});
