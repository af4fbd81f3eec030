export type MoreListener = (size: number, running: boolean) => void;

export interface Followers {
  /** Tells the listener of the log's size now, then of growth, until it is stopped or the job ends. */
  add(id: string, more: MoreListener): () => void;
  /** The job has ended: the last call of each listener. */
  end(id: string, size: number): void;
  close(): void;
}

interface Follower {
  readonly more: MoreListener;
  toldSize: number;
}

/** Notices growth by `stat` at most 10 times a second, and only while somebody follows. (File watching floods.) */
export function createFollowers(sizeOf: (id: string) => Promise<number>): Followers {
  const intervalMs = 100;
  const followed = new Map<string, Set<Follower>>();
  let timer: NodeJS.Timeout | null = null;
  let busy = false;

  async function look(): Promise<void> {
    for (const id of [...followed.keys()]) {
      const size = await sizeOf(id);
      // Looked up again: the job may have ended meanwhile.
      for (const follower of followed.get(id) ?? []) {
        if (follower.toldSize === size) continue;
        follower.toldSize = size;
        follower.more(size, true);
      }
    }
  }

  function tick(): void {
    if (busy) return;
    busy = true;
    void look().finally(() => {
      busy = false;
    });
  }

  function rest(): void {
    if (followed.size > 0 || timer === null) return;
    clearInterval(timer);
    timer = null;
  }

  return {
    add(id, more) {
      const follower: Follower = { more, toldSize: -1 };
      const others = followed.get(id) ?? new Set();
      followed.set(id, others.add(follower));
      timer ??= setInterval(tick, intervalMs).unref();
      return () => {
        others.delete(follower);
        if (others.size === 0 && followed.get(id) === others) followed.delete(id);
        rest();
      };
    },
    end(id, size) {
      const followers = followed.get(id);
      followed.delete(id);
      rest();
      for (const follower of followers ?? []) follower.more(size, false);
    },
    close() {
      followed.clear();
      rest();
    },
  };
}
