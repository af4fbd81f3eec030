import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { Principal } from "../../src/auth/principal.ts";
import type { Clock } from "../../src/lib/clock.ts";
import { newId } from "../../src/lib/ids.ts";
import type { StoredDevice } from "../../src/pairing/device-file.ts";
import { createLease, type LeaseHandle } from "../../src/pairing/lease.ts";
import type { DevicePaths } from "../../src/pairing/load-device-files.ts";
import { type Scope, scopes } from "../../src/protocol/scopes.ts";

export interface FakeClock extends Clock {
  wallMs: number;
  monotonicMs: number;
  /** Time passes: both clocks move. */
  pass(ms: number): void;
}

export function fakeClock(): FakeClock {
  const clock: FakeClock = {
    wallMs: Date.UTC(2026, 10, 30, 12),
    monotonicMs: 5_000,
    now: () => clock.wallMs,
    monotonicNow: () => clock.monotonicMs,
    pass(ms) {
      clock.wallMs += ms;
      clock.monotonicMs += ms;
    },
  };
  return clock;
}

export interface FakeLeaseOptions {
  readonly principal?: Principal;
  readonly name?: string;
  readonly scopes?: readonly Scope[];
  readonly expiresAtMs?: number | null;
  readonly now?: () => number;
}

/** A lease whose scopes a test may change, and end. */
export function fakeLease(options: FakeLeaseOptions = {}): LeaseHandle & { held: Set<Scope>; end(): void } {
  const held = new Set(options.scopes ?? scopes);
  const handle = createLease({
    principal: options.principal ?? { kind: "master" },
    name: () => options.name ?? "local",
    scopes: () => held,
    expiresAtMs: options.expiresAtMs ?? null,
    localOnly: false,
    now: options.now ?? (() => 0),
    onListenerError: (error) => {
      throw error;
    },
  });
  return {
    ...handle,
    held,
    end() {
      handle.markEnded("revoked");
      handle.announceEnd();
    },
  };
}

/** The hash of some secret; parameters as they are stored. */
export const someHash = `$argon2id$v=19$m=19456,t=2,p=1$${"A".repeat(22)}$${"B".repeat(43)}`;

export function storedDevice(changes: Partial<StoredDevice> = {}): StoredDevice {
  return {
    id: newId(),
    name: "Pixel phone",
    kind: "phone",
    scopes: ["view", "drive", "approve", "admin"],
    created: "2026-11-30T12:00:00.000Z",
    expires: null,
    last_seen: null,
    local_only: false,
    token_hash: someHash,
    ...changes,
  };
}

export async function temporaryHome(): Promise<DevicePaths & { readonly home: string }> {
  const home = await mkdtemp(join(tmpdir(), "sallyport-pairing-"));
  onTestFinished(() => rm(home, { recursive: true, force: true }));
  return {
    home,
    daemonToken: join(home, "daemon.token"),
    daemonKey: join(home, "daemon.key"),
    devices: join(home, "devices.json"),
    audit: join(home, "audit.jsonl"),
  };
}

/** What a refused promise was refused with. */
export async function refusalOf(
  promise: Promise<unknown>,
): Promise<{ code: string; message: string; field?: string; retryAfterSeconds?: number }> {
  return promise.then(
    () => {
      throw new Error("it was not refused");
    },
    (error: unknown) => error as { code: string; message: string },
  );
}

/** Waits until `holds` says true; fails after a minute. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  const end = Date.now() + 60_000;
  while (!(await holds())) {
    if (Date.now() > end) throw new Error("waited a minute in vain");
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
