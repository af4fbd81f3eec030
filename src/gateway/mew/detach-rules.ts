/** What is known of a session when its last mew client has been gone for the grace period, or something changed since. */
export interface DetachedFacts {
  readonly mewClients: number;
  readonly nativeClients: number;
  /** The turn that runs now. */
  readonly turn: string | null;
  /** True while a further turn is reserved. */
  readonly queued: boolean;
}

/**
 * True when the turn ends with its clients: only one that came by the legacy `Prompt` does, whose senders expect it, and
 * only while no native client is there to watch it. What was submitted with a receipt goes on: leaving the desk is what
 * the daemon is for.
 */
export function cancelsTurn(facts: DetachedFacts, legacyTurn: string | null): boolean {
  return (
    facts.mewClients === 0 && facts.nativeClients === 0 && facts.turn !== null && facts.turn === legacyTurn
  );
}

/** True when nobody needs the session to stay loaded. */
export function mayUnload(facts: DetachedFacts): boolean {
  return facts.mewClients === 0 && facts.nativeClients === 0 && facts.turn === null && !facts.queued;
}

/** What a timer of the platform can wait; a longer grace is waited for in parts. */
const maxTimerMs = 2_000_000_000;

/** Calls `done` after `ms`, however long that is, without keeping the process alive. Returns how to stop. */
export function afterLong(ms: number, done: () => void): () => void {
  let leftMs = ms;
  let timer: NodeJS.Timeout;
  const wait = (): void => {
    const partMs = Math.min(leftMs, maxTimerMs);
    leftMs -= partMs;
    timer = setTimeout(leftMs > 0 ? wait : done, partMs).unref();
  };
  wait();
  return () => clearTimeout(timer);
}
