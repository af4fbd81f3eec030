import type { Lease } from "../auth/principal.ts";

const byLease = new WeakMap<Lease, Set<Promise<unknown>>>();

/** Notes what somebody asked for while it is being done. Returns it as it is. */
export function trackWork<T>(lease: Lease, work: T): T {
  if (!(work instanceof Promise)) return work;
  const running = byLease.get(lease) ?? new Set();
  byLease.set(lease, running.add(work));
  const done = (): void => void running.delete(work);
  work.then(done, done);
  return work;
}

/**
 * Resolves when all that was being done for a lease is done: what had passed its last check when the lease ended, and was
 * on its way to the disk. After `maxMs` at the latest. Never rejects.
 */
export async function workSettled(lease: Lease, maxMs: number): Promise<void> {
  const running = byLease.get(lease);
  if (running === undefined || running.size === 0) return;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, maxMs);
  });
  await Promise.race([Promise.allSettled(running), late]);
  clearTimeout(timer);
}
