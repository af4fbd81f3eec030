import type { Keyboard } from "../io.ts";

export interface LineEditorOptions {
  readonly keyboard: Keyboard;
  readonly now: () => number;
  /** Writes to the terminal what belongs to the line that is typed. */
  readonly write: (text: string) => void;
  readonly onLine: (line: string) => void;
  readonly onInterrupt: () => void;
  /** Ctrl-D on an empty line. */
  readonly onEnd: () => void;
  /** True while something else waits for a key or words: it gets them if the person had stopped typing. */
  readonly isAsking: () => boolean;
  readonly onKey: (key: string) => void;
}

/** The line that a person types, in a raw terminal. */
export interface LineEditor {
  /** Takes the line off the screen while something else is written. */
  hide(): void;
  /** Puts it back, with its prompt. */
  show(): void;
  stop(): void;
}

const promptSign = "> ";
const maxChars = 100_000;
/** Whoever was typing a moment ago means his line, not the question that has just come up. */
const pauseMs = 500;

export function startLineEditor(options: LineEditorOptions): LineEditor {
  const { write } = options;
  let line = "";
  let isShown = false;
  // What a terminal kept from before is read first: it was not meant for a request either.
  let lastKeyAtMs = options.now();
  let answering = false;
  let sequence = "";

  function clear(): void {
    if (isShown) write("\r\u001b[K");
  }
  function draw(): void {
    if (isShown) write(`\r\u001b[K${promptSign}${visible(line)}`);
  }

  function key(pressed: string): void {
    const atMs = options.now();
    const hadPaused = atMs - lastKeyAtMs >= pauseMs;
    lastKeyAtMs = atMs;
    if (pressed === "\u0003") {
      line = "";
      options.onInterrupt();
      draw();
      return;
    }
    answering = options.isAsking() && (answering || (line === "" && hadPaused));
    if (answering) options.onKey(pressed);
    else edit(pressed);
  }

  function edit(pressed: string): void {
    if (skipEscape(pressed)) return;
    switch (pressed) {
      case "\r":
      case "\n": {
        const done = line;
        line = "";
        if (isShown) write("\n");
        options.onLine(done);
        draw();
        return;
      }
      case "\u0004":
        if (line === "") options.onEnd();
        return;
      case "\u007f":
      case "\b":
        line = [...line].slice(0, -1).join("");
        break;
      case "\u0015":
        line = "";
        break;
      case "\u0017":
        line = line.replace(/\S*\s*$/, "");
        break;
      case "\t":
        line += " ";
        break;
      default:
        if (pressed < " " || line.length >= maxChars) return;
        line += pressed;
    }
    draw();
  }

  /** Arrows and other keys that send a sequence (ECMA-48) do nothing here. */
  function skipEscape(pressed: string): boolean {
    if (sequence === "") {
      if (pressed !== "\u001b") return false;
      sequence = pressed;
      return true;
    }
    sequence += pressed;
    const isOver = sequence.length > 8 || (/[@-~]$/.test(pressed) && !/^\u001b[[O]$/.test(sequence));
    if (isOver) sequence = "";
    return true;
  }

  const stopKeys = options.keyboard.listen(key);
  return {
    hide() {
      clear();
      isShown = false;
    },
    show() {
      isShown = true;
      draw();
    },
    stop() {
      clear();
      stopKeys();
    },
  };
}

function visible(line: string): string {
  return [...line].map((char) => (char < " " || char === "\u007f" ? "?" : char)).join("");
}
