import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ansiLines, createAnsiScreen, lineText } from "../../../web/ansi/ansi-screen.ts";
import { ansiClasses } from "../../../web/ansi/sgr.ts";

const texts = (input: string, options = {}): string[] => ansiLines(input, options).map(lineText);
const styled = (input: string): string[] =>
  ansiLines(input).map(({ spans }) =>
    spans.map(({ text, style }) => `${ansiClasses(style) || "-"}|${text}`).join(" "),
  );

describe("ansiLines", () => {
  it.each([
    ["plain lines", "a\nb\n", ["a", "b"]],
    ["lines of Windows", "a\r\nb\r\n", ["a", "b"]],
    ["a progress bar", "10 %\r50 %\r100 %\n", ["100 %"]],
    ["a shorter text over a longer one", "working\rok\n", ["okrking"]],
    ["erase in line", "working\r\u001b[Kok\n", ["ok"]],
    ["erase of the whole line", "abc\u001b[2Kd", ["   d"]],
    ["backspace", "abc\b\bX", ["aXc"]],
    ["tab", "a\tb", ["a       b"]],
    ["cursor movement", "a\u001b[2Ab\u001b[10;10Hc", ["abc"]],
    ["a window title", "a\u001b]0;title\u0007b", ["ab"]],
    ["a link", "\u001b]8;;https://evil.example\u001b\\text\u001b]8;;\u001b\\", ["text"]],
    ["a device control string", "a\u001bP1$r0m\u001b\\b", ["ab"]],
    ["controls", "a\u0000\u0007\u000eb\u009b31mc\u007f", ["abc"]],
    ["bidi controls", "user\u202e txt.exe\u2066\u200b", ["user txt.exe"]],
    ["character sets", "\u001b(Ba\u001b=b\u001b>c", ["abc"]],
    ["a sequence that never ends", "a\u001b[31", ["a"]],
    ["a title that never ends", "a\u001b]0;ti\ntle", ["a", "tle"]],
    ["text beyond the basic plane", "a😀b", ["a😀b"]],
  ])("reads %s", (_name, input, expected) => {
    expect(texts(input)).toEqual(expected);
  });

  it("styles what follows a colour until it is reset, over line ends", () => {
    expect(styled("a\u001b[31mb\nc\u001b[0md")).toEqual(["-|a ansi-fg-1|b", "ansi-fg-1|c -|d"]);
  });

  it("overwrites with the new style and keeps the rest", () => {
    expect(styled("\u001b[31mabcdef\r\u001b[32mXY")).toEqual(["ansi-fg-2|XY ansi-fg-1|cdef"]);
  });

  it("drops the oldest lines and goes on counting", () => {
    const screen = createAnsiScreen({ maxLines: 4 });
    for (let i = 0; i < 100; i += 1) screen.write(`line ${i}\n`);
    expect(screen.lines.map(lineText)).toEqual(["line 96", "line 97", "line 98", "line 99"]);
    expect(screen.lines[0]?.number).toBe(96);
    expect(screen.dropped).toBe(96);
  });

  it("breaks a line that is too long, and never through a character of two units", () => {
    expect(texts("abcdefgh", { maxLineChars: 3 })).toEqual(["abc", "def", "gh"]);
    expect(texts("ab😀cd", { maxLineChars: 3 })).toEqual(["ab😀", "cd"]);
  });

  it("keeps the objects of lines that did not change", () => {
    const screen = createAnsiScreen();
    screen.write("a\nb");
    const [first] = screen.lines;
    screen.write("c\n");
    expect(screen.lines[0]).toBe(first);
    expect(screen.lines.map(lineText)).toEqual(["a", "bc"]);
  });

  const pieces = fc.array(
    fc.oneof(
      fc.constantFrom("\u001b", "[", "31m", "0", ";", "\r", "\n", "\b", "\t", "K", "]0;x", "\u0007", "\\"),
      fc.constantFrom("\u009b", "\u009d", "P", "(B", "38;5;200m", "😀", "\ud83d"),
      fc.string({ maxLength: 5 }),
    ),
    { maxLength: 60 },
  );

  it("yields the same however the output is cut into pieces", () => {
    fc.assert(
      fc.property(pieces, fc.array(fc.nat({ max: 400 }), { maxLength: 8 }), (parts, cuts) => {
        const input = parts.join("");
        const screen = createAnsiScreen({ maxLineChars: 40 });
        const places = [
          0,
          ...cuts.map((cut) => cut % (input.length + 1)).sort((a, b) => a - b),
          input.length,
        ];
        for (let i = 1; i < places.length; i += 1) screen.write(input.slice(places[i - 1], places[i]));
        expect(screen.lines.map(lineText)).toEqual(texts(input, { maxLineChars: 40 }));
      }),
    );
  });

  it("never lets a control or bidi character through", () => {
    fc.assert(
      fc.property(pieces, (parts) => {
        for (const line of texts(parts.join("")))
          expect(line).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/);
      }),
    );
  });

  it("stays linear: hostile megabytes are read whole", () => {
    const hostile = [
      "\u001b[".repeat(500_000),
      "\u001b]0;".repeat(250_000),
      "\u001b[31mx\u001b[32my".repeat(80_000),
      `${"\u001b[31mx\u001b[32my".repeat(2_000)}${"\rx".repeat(100_000)}`,
      "x".repeat(1_000_000),
      "\n".repeat(1_000_000),
      "\b\t".repeat(300_000),
    ];
    for (const input of hostile) {
      const screen = createAnsiScreen({ maxLines: 1_000 });
      screen.write(input);
      expect(screen.lines.length).toBeLessThanOrEqual(1_001);
    }
  });
});
