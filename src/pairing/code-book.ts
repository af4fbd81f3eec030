import { FixedWindow } from "../auth/fixed-window.ts";
import type { Lease, RequestClass } from "../auth/principal.ts";
import { createTokenDigester, digestsEqual } from "../auth/token-digest.ts";
import { SallyportError } from "../errors.ts";
import type { Clock } from "../lib/clock.ts";
import { limits } from "../protocol/limits.ts";
import type { Scope } from "../protocol/scopes.ts";
import { createAttemptWindow } from "./attempt-window.ts";
import { formatPairingCode, newPairingCode, parsePairingCode } from "./pairing-code.ts";

/** What a code gives, decided by who made it. */
export interface CodeGrant {
  readonly minter: Lease;
  readonly scopes: readonly Scope[];
  /** Days that the device may be used, counted from pairing; null for as long as the minter. */
  readonly expiresDays: number | null;
}

/** Who tries to pair, as far as he can be told from others. */
export interface Attempt {
  readonly requestClass: RequestClass;
  /** What limits are counted under; null or absent where no address can be trusted. */
  readonly clientAddress?: string | null;
}

export interface CodeClaim extends Attempt {
  readonly rawCode: string;
  readonly nonce: string | null;
}

export interface CodeBook<T> {
  /** A new code as it is shown, and its end (epoch ms). Throws `rate_limited` when the minter has too many open. */
  mint(grant: CodeGrant): { readonly code: string; readonly expiresAtMs: number };
  /**
   * Redeems a code: of any number of claims exactly one runs `pair`, and the code is open again if that fails. The same
   * code with the winner's nonce gives the same result for another minute.
   *
   * @throws SallyportError `pairing_refused` (wrong, used or expired alike), `pairing_locked` (a miss after ten of them),
   *   `rate_limited` (over the ceiling of attempts), or whatever `pair` rejects with
   */
  redeem(claim: CodeClaim, pair: (grant: CodeGrant) => Promise<T>): Promise<T>;
  /** Counts an attempt that does not name a code against the ceiling. Throws `rate_limited`. */
  countAttempt(attempt: Attempt): void;
  /** Codes that could still be redeemed. */
  readonly open: number;
}

export interface CodeBookOptions {
  readonly clock: Clock;
  readonly onMiss: () => void;
  readonly maxOpenPerMinter?: number;
}

interface Code<T> {
  readonly key: string;
  readonly grant: CodeGrant;
  readonly endsAtMs: number;
  readonly endsAtMonotonicMs: number;
  stopListening: () => void;
  nonceDigest: string | null;
  /** Set while and after it is redeemed. */
  outcome: Promise<T> | null;
  /** Monotonic milliseconds until which the winner may repeat; null while the code was not redeemed. */
  repeatUntilMs: number | null;
}

const maxMissesKnown = 4_096;

/** Codes in memory only, kept by HMAC: a restart kills them all. */
export function createCodeBook<T>(options: CodeBookOptions): CodeBook<T> {
  const { clock, maxOpenPerMinter = 256 } = options;
  const digester = createTokenDigester();
  const codes = new Map<string, Code<T>>();
  const openByMinter = new Map<Lease, number>();
  const misses = createAttemptWindow(limits.pairingMisses, limits.pairingMissWindowMs);
  const ceilings = {
    local: createAttemptWindow(limits.pairingAttemptsPerSecond, 1_000),
    remote: createAttemptWindow(limits.pairingAttemptsPerSecond, 1_000),
  };
  const remoteByAddress = new FixedWindow({ maxKeys: 4_096, windowMs: 1_000 });
  const missed = new Set<string>();

  const hasEnded = (code: Code<T>): boolean =>
    clock.now() >= code.endsAtMs || clock.monotonicNow() >= code.endsAtMonotonicMs;

  /** The code can no longer be redeemed. It stays known for a moment if it was used. */
  function close(code: Code<T>): void {
    code.stopListening();
    const left = (openByMinter.get(code.grant.minter) ?? 1) - 1;
    if (left > 0) openByMinter.set(code.grant.minter, left);
    else openByMinter.delete(code.grant.minter);
  }

  function drop(code: Code<T>): void {
    if (codes.get(code.key) !== code) return;
    codes.delete(code.key);
    if (code.repeatUntilMs === null) close(code);
  }

  function dropEnded(): void {
    for (const code of codes.values()) if (!code.outcome && hasEnded(code)) drop(code);
  }

  /** The code that is meant, if it is open, being redeemed, or was redeemed within the last minute. */
  function find(key: string): Code<T> | null {
    const code = codes.get(key);
    if (!code) return null;
    const over = code.outcome
      ? code.repeatUntilMs !== null && clock.monotonicNow() >= code.repeatUntilMs
      : hasEnded(code);
    if (!over) return code;
    drop(code);
    return null;
  }

  const isWinner = (code: Code<T>, nonce: string | null): boolean =>
    nonce !== null && code.nonceDigest !== null && digestsEqual(digester.digest(nonce), code.nonceDigest);

  function countAttempt({ requestClass, clientAddress = null }: Attempt): void {
    const nowMs = clock.monotonicNow();
    const address = requestClass === "remote" ? clientAddress : null;
    const isOverShare =
      address !== null &&
      remoteByAddress.waitMs(address, limits.pairingAttemptsPerAddressPerSecond, nowMs) > 0;
    if (isOverShare || !ceilings[requestClass].tryAdd(nowMs))
      throw new SallyportError("rate_limited", "Too many attempts to pair at once. Try again in a second.", {
        retryAfterSeconds: 1,
      });
    if (address !== null) remoteByAddress.count(address, nowMs);
  }

  function rememberMiss(key: string): void {
    const [oldest] = missed;
    if (oldest !== undefined && missed.size >= maxMissesKnown) missed.delete(oldest);
    missed.add(key);
  }

  function miss(): SallyportError {
    const now = clock.monotonicNow();
    options.onMiss();
    if (misses.tryAdd(now)) return refused();
    const retryAfterSeconds = Math.max(1, Math.ceil(misses.waitMs(now) / 1000));
    const message = "Too many wrong codes. A right one still pairs; make a new one: sallyport pair";
    return new SallyportError("pairing_locked", message, { retryAfterSeconds });
  }

  function markUsed(code: Code<T>): void {
    if (codes.get(code.key) === code) close(code);
    code.repeatUntilMs = clock.monotonicNow() + limits.pairingRepeatMs;
    // The token is remembered for the winner's repeat and for no longer than that.
    setTimeout(() => drop(code), limits.pairingRepeatMs).unref();
  }

  async function win(
    code: Code<T>,
    nonce: string | null,
    pair: (grant: CodeGrant) => Promise<T>,
  ): Promise<T> {
    code.nonceDigest = nonce === null ? null : digester.digest(nonce);
    const outcome = pair(code.grant);
    code.outcome = outcome;
    try {
      const result = await outcome;
      markUsed(code);
      return result;
    } catch (error) {
      code.outcome = null;
      code.nonceDigest = null;
      throw error;
    }
  }

  return {
    countAttempt,
    get open() {
      return [...codes.values()].filter((code) => code.repeatUntilMs === null && !hasEnded(code)).length;
    },
    mint(grant) {
      dropEnded();
      const open = openByMinter.get(grant.minter) ?? 0;
      if (open >= maxOpenPerMinter)
        throw new SallyportError(
          "rate_limited",
          `${maxOpenPerMinter} codes are open. Use one, or wait until they end.`,
          {
            retryAfterSeconds: limits.pairingCodeTtlMs / 1000,
          },
        );
      const code = newPairingCode();
      const key = digester.digest(code);
      missed.delete(key);
      const endsAtMs = clock.now() + limits.pairingCodeTtlMs;
      const entry: Code<T> = {
        key,
        grant,
        endsAtMs,
        endsAtMonotonicMs: clock.monotonicNow() + limits.pairingCodeTtlMs,
        stopListening: () => undefined,
        nonceDigest: null,
        outcome: null,
        repeatUntilMs: null,
      };
      openByMinter.set(grant.minter, open + 1);
      codes.set(key, entry);
      entry.stopListening = grant.minter.onEnd(() => drop(entry));
      return { code: formatPairingCode(code), expiresAtMs: endsAtMs };
    },
    async redeem(claim, pair) {
      const parsed = parsePairingCode(claim.rawCode);
      const key = parsed === null ? null : digester.digest(parsed);
      // What cannot be a code, or was found to be none before, guesses nothing: it must not use up the ceiling.
      if (key === null || missed.has(key)) throw miss();
      countAttempt(claim);
      const code = find(key);
      if (!code) {
        rememberMiss(key);
        throw miss();
      }
      if (code.outcome) {
        if (isWinner(code, claim.nonce)) return code.outcome;
        throw refused();
      }
      return win(code, claim.nonce, pair);
    },
  };
}

function refused(): SallyportError {
  return new SallyportError(
    "pairing_refused",
    "This code is wrong, used or expired. Make a new one: sallyport pair",
  );
}
