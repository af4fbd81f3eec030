export interface ChangeRingOptions {
  readonly maxCount: number;
  readonly maxBytes: number;
}

/**
 * The newest changes as UTF-8, by rev, in one piece of memory that is used again and again: a buffer for each change would
 * live just long enough to be the collector's most expensive garbage (300 MB of changes made the daemon 100 MB larger).
 */
export interface ChangeRing {
  /** Takes the text of the change that follows the last one, never an empty one. The bytes returned are valid until the next `push`. */
  push(text: string): Buffer;
  /** Rev of the oldest change that is held; the number after the last rev when there is none. */
  readonly oldest: number;
  /** The bytes of a change that is held, valid until the next `push`. Throws RangeError for another. */
  get(rev: number): Buffer;
}

/** The first change has rev 1. The newest is held whatever its size. */
export function createChangeRing({ maxCount, maxBytes }: ChangeRingOptions): ChangeRing {
  // Its pages become real memory only when they are written for the first time.
  const memory = Buffer.allocUnsafeSlow(maxBytes);
  const starts = new Float64Array(maxCount);
  const lengths = new Float64Array(maxCount);
  let oldest = 1;
  let next = 1;
  /** Where the next change goes. */
  let end = 0;
  /** The newest change, where it is larger than all of the memory. */
  let oversized: Buffer | null = null;

  const startOf = (rev: number): number => starts[rev % maxCount] ?? 0;
  const lengthOf = (rev: number): number => lengths[rev % maxCount] ?? 0;

  /** Forgets what lies in the way of `[from, to)`. */
  function makeRoom(from: number, to: number): void {
    while (oldest < next && startOf(oldest) < to && startOf(oldest) + lengthOf(oldest) > from) oldest += 1;
  }

  return {
    get oldest() {
      return oldest;
    },
    push(text) {
      const length = Buffer.byteLength(text);
      if (oversized || length > maxBytes) oldest = next;
      oversized = length > maxBytes ? Buffer.from(text) : null;
      if (next - oldest >= maxCount) oldest += 1;
      if (oversized) end = 0;
      else {
        if (end + length > maxBytes) {
          makeRoom(end, maxBytes);
          end = 0;
        }
        makeRoom(end, end + length);
        memory.write(text, end);
      }
      starts[next % maxCount] = end;
      lengths[next % maxCount] = oversized ? 0 : length;
      end += oversized ? 0 : length;
      next += 1;
      return oversized ?? memory.subarray(end - length, end);
    },
    get(rev) {
      if (rev < oldest || rev >= next) throw new RangeError(`change ${rev} is not held`);
      if (oversized) return oversized;
      return memory.subarray(startOf(rev), startOf(rev) + lengthOf(rev));
    },
  };
}
