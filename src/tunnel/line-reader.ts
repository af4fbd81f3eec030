export interface LineReader {
  /** Takes bytes as they come and yields the lines that are whole now, without their ends. */
  push(bytes: Buffer): readonly string[];
  /** What stands there without an end, or null; it goes on to grow. */
  peek(): string | null;
  /** Passes over bytes without making lines of them; false, and nothing is taken, where `word` is in a line of theirs. */
  skip(bytes: Buffer, word: string): boolean;
  /** Forgets what stands there without an end: what follows it is not its end. */
  drop(): void;
}

const lineFeed = 0x0a;
const carriageReturn = 0x0d;
/** What two parts of a long line have in common, so that a word at the cut is whole in one of them. */
const overlapBytes = 256;

/** Cuts output into lines; holds `maxLength` bytes at most. A longer line comes in parts of that length. */
export function createLineReader(maxLength: number): LineReader {
  let held: Buffer = Buffer.alloc(0);
  /** Of `held`, bytes that a part before has shown already. */
  let shown = 0;

  function hold(rawPart: Buffer, lines: string[]): void {
    for (let part = rawPart; part.length > 0; ) {
      const room = maxLength - held.length;
      held = Buffer.concat([held, part.subarray(0, room)]);
      part = part.subarray(room);
      if (held.length < maxLength) return;
      lines.push(held.toString("utf8"));
      held = held.subarray(-Math.min(overlapBytes, maxLength - 1));
      shown = held.length;
    }
  }

  function clear(): void {
    held = Buffer.alloc(0);
    shown = 0;
  }

  return {
    push(bytes) {
      const lines: string[] = [];
      let from = 0;
      let feed = bytes.indexOf(lineFeed);
      let back = bytes.indexOf(carriageReturn);
      while (feed >= 0 || back >= 0) {
        const end = feed < 0 || (back >= 0 && back < feed) ? back : feed;
        hold(bytes.subarray(from, end), lines);
        if (held.length > shown) lines.push(held.toString("utf8"));
        clear();
        from = end + 1;
        if (feed === end) feed = bytes.indexOf(lineFeed, from);
        else back = bytes.indexOf(carriageReturn, from);
      }
      hold(bytes.subarray(from), lines);
      return lines;
    },
    drop: clear,
    peek: () => (held.length > shown ? held.toString("utf8") : null),
    skip(bytes, word) {
      const edge = Buffer.concat([held.subarray(-word.length), bytes.subarray(0, word.length)]);
      if (bytes.includes(word) || edge.includes(word)) return false;
      clear();
      const from = Math.max(bytes.lastIndexOf(lineFeed) + 1, bytes.length - overlapBytes);
      hold(bytes.subarray(from), []);
      return true;
    },
  };
}
