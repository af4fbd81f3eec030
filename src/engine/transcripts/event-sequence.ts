import type { StateFile } from "../../lib/state-file.ts";

const section = "seq_reserved";
const blockSize = 100_000;

/** Numbers for events, growing over all agents and over restarts: they are reserved on disk in blocks. */
export interface EventSequence {
  /** The last number given out; before the first one, the last that an earlier process may have used. */
  readonly last: number;
  next(): number;
  /** Makes sure that a good part of a block is reserved. Rejects with the error of the file system. */
  ensure(): Promise<void>;
  /** Goes on behind `seq`, which was found in a transcript: the state file may have been set aside. */
  raise(seq: number): void;
}

/** Throws `StateFileError` when the reservation in the state file is damaged. */
export function createEventSequence(state: StateFile): EventSequence {
  const raw = state.get(section) ?? 0;
  if (typeof raw !== "number" || !Number.isSafeInteger(raw) || raw < 0) throw state.damaged(section);
  let reserved = raw;
  let last = raw;
  let reserving: Promise<void> | null = null;

  async function reserve(): Promise<void> {
    try {
      const end = Math.max(reserved, last) + blockSize;
      await state.update(section, () => end);
      reserved = end;
    } finally {
      reserving = null;
    }
  }

  return {
    get last() {
      return last;
    },
    next() {
      last += 1;
      return last;
    },
    async ensure() {
      if (reserved - last >= blockSize / 2) return;
      reserving ??= reserve();
      await reserving;
    },
    raise(seq) {
      last = Math.max(last, seq);
    },
  };
}
