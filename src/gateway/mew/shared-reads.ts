/** One who waits to read something that others may be reading, too. */
export interface SharedRead<T> {
  /** What a read gives that began after this one was asked for: another's, or else one that begins now. */
  value(read: () => Promise<T>): Promise<T>;
  /** To be called once, when it waits and reads no more. */
  end(): void;
}

export interface SharedReads<T> {
  ask(key: string): SharedRead<T>;
}

interface Reading<T> {
  /** How many of its kind wait or read; what was read is kept no longer than there are any. */
  askers: number;
  newest: { readonly began: number; readonly value: Promise<T> } | null;
}

/** Of many who ask for the same thing at once, few read it: nobody is given what was read before he asked. */
export function createSharedReads<T>(): SharedReads<T> {
  const readings = new Map<string, Reading<T>>();
  let clock = 0;

  return {
    ask(key) {
      const reading = readings.get(key) ?? { askers: 0, newest: null };
      readings.set(key, reading);
      reading.askers += 1;
      const asked = clock;
      return {
        value(read) {
          if (reading.newest === null || reading.newest.began <= asked) {
            clock += 1;
            reading.newest = { began: clock, value: read() };
          }
          return reading.newest.value;
        },
        end() {
          reading.askers -= 1;
          if (reading.askers === 0) readings.delete(key);
        },
      };
    },
  };
}
