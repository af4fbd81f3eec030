/** Lets those who come pass, or wait while it is held. */
export interface Gate {
  readonly isHeld: boolean;
  hold(isHeld: boolean): void;
  /** Resolves at once, or when it is no longer held. */
  passed(): Promise<void>;
}

export function createGate(): Gate {
  let isHeld = false;
  let waiting: (() => void)[] = [];
  return {
    get isHeld() {
      return isHeld;
    },
    hold(next) {
      isHeld = next;
      if (isHeld) return;
      const released = waiting;
      waiting = [];
      for (const release of released) release();
    },
    passed: () => (isHeld ? new Promise((resolve) => waiting.push(resolve)) : Promise.resolve()),
  };
}
