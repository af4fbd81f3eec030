import { SallyportError } from "../errors.ts";

/** RFC 9106 parameters of what is stored: 19 MiB, two passes, one lane (about 50 ms). */
const memoryKib = 19 * 1024;
const passes = 2;
const lanes = 1;

/** The only form of hash that is stored or checked: a damaged file cannot make us spend a gigabyte. */
export const tokenHashPattern = `^\\$argon2id\\$v=19\\$m=${memoryKib},t=${passes},p=${lanes}\\$[A-Za-z0-9+/]{22}\\$[A-Za-z0-9+/]{43}$`;

export interface TokenHasher {
  /** The argon2id hash of a token secret, for `devices.json`. Rejects with `overloaded` when the queue is full. */
  hash(tokenSecret: string): Promise<string>;
  /** Whether `hash` is the hash of the secret. Rejects with `overloaded` when the queue is full. */
  verify(hash: string, rawSecret: string): Promise<boolean>;
}

export interface TokenHasherOptions {
  readonly maxRunning: number;
  readonly maxQueued: number;
}

/**
 * argon2id, a few at a time and with a bounded queue: each takes 19 MiB and a thread, and a flood of tokens must not take
 * them all. The native module is loaded when it is first needed.
 */
export function createTokenHasher(
  options: TokenHasherOptions = { maxRunning: 2, maxQueued: 64 },
): TokenHasher {
  let running = 0;
  const queue: (() => void)[] = [];

  async function limited<T>(work: () => Promise<T>): Promise<T> {
    if (running >= options.maxRunning) {
      if (queue.length >= options.maxQueued)
        throw new SallyportError("overloaded", "Too many devices sign in at once. Try again in a moment.", {
          retryAfterSeconds: 2,
        });
      // Whoever finishes hands its place over, so that `running` stays as it is.
      await new Promise<void>((resolve) => queue.push(resolve));
    } else {
      running += 1;
    }
    try {
      return await work();
    } finally {
      const next = queue.shift();
      if (next) next();
      else running -= 1;
    }
  }

  return {
    hash: (tokenSecret) =>
      limited(async () => {
        const argon2 = await import("argon2");
        return argon2.hash(tokenSecret, {
          type: argon2.argon2id,
          memoryCost: memoryKib,
          timeCost: passes,
          parallelism: lanes,
        });
      }),
    verify: (hash, rawSecret) =>
      limited(async () => {
        const argon2 = await import("argon2");
        return argon2.verify(hash, rawSecret);
      }),
  };
}
