export interface LineReader {
  /** Takes bytes as they come and yields the lines that are whole now, without their ends. */
  push(bytes: Buffer): readonly string[];
  /** What stands there without an end; it is not yielded again. Null when there is nothing. */
  flush(): string | null;
}

/** Cuts output into lines; holds `maxLength` bytes at most. What a longer line has beyond is dropped. */
export function createLineReader(maxLength: number): LineReader {
  let held: Buffer = Buffer.alloc(0);
  let dropping = false;

  function hold(part: Buffer): void {
    if (dropping || part.length === 0) return;
    held = Buffer.concat([held, part.subarray(0, maxLength - held.length)]);
  }

  function take(): string {
    const line = held.toString("utf8");
    held = Buffer.alloc(0);
    return line;
  }

  return {
    push(bytes) {
      const lines: string[] = [];
      let from = 0;
      for (let at = 0; at < bytes.length; at++) {
        if (bytes[at] !== 0x0a && bytes[at] !== 0x0d) continue;
        hold(bytes.subarray(from, at));
        from = at + 1;
        if (!dropping && held.length > 0) lines.push(take());
        dropping = false;
      }
      hold(bytes.subarray(from));
      return lines;
    },
    flush() {
      if (held.length === 0) return null;
      dropping = true;
      return take();
    },
  };
}
