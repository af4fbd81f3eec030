import { limits } from "../protocol/limits.ts";
import { FixedWindow } from "./fixed-window.ts";
import type { RequestClass } from "./principal.ts";

/** Whoever could not be verified, as far as he can be told from others. */
export interface UnverifiedCaller {
  readonly door: string;
  readonly requestClass: RequestClass;
  /** Null where no address can be trusted. */
  readonly address: string | null;
}

/** The budgets of everybody who is not a verified principal; those never come here. */
export interface Throttle {
  /** Counts a request for a public route, or one that presents nothing. Seconds to wait, or 0. */
  takePublic(caller: UnverifiedCaller, nowMs: number): number;
  /** Counts a file that a page is made of. Seconds to wait, or 0. */
  takePageFile(caller: UnverifiedCaller, nowMs: number): number;
  /** Counts a credential that is no good. Seconds to wait, or 0. */
  takeFailure(caller: UnverifiedCaller, nowMs: number): number;
}

const windowMs = 60_000;
const maxAddresses = 4_096;
const maxDoors = 64;

/** Budgets of this process: empty at its start, bounded in memory. `nowMs` of every call is milliseconds of one clock. */
export function createThrottle(): Throttle {
  const publicRequests = openBudget(
    limits.publicRequestsPerAddressPerMinute,
    limits.publicRequestsPerBlindDoorPerMinute,
  );
  const pageFiles = openBudget(limits.pageFilesPerAddressPerMinute, limits.pageFilesPerBlindDoorPerMinute);
  const failuresByAddress = new FixedWindow({ maxKeys: maxAddresses, windowMs });
  const failuresByDoor = new FixedWindow({ maxKeys: maxDoors, windowMs });

  return {
    takePublic: publicRequests,
    takePageFile: pageFiles,
    takeFailure(caller, nowMs) {
      const { address } = caller;
      // An address that has used up its own budget must not eat the door's as well.
      if (address !== null) {
        const key = addressKey(caller, address);
        const waitMs = failuresByAddress.waitMs(key, limits.failuresPerAddressPerMinute, nowMs);
        if (waitMs > 0) return wholeSeconds(waitMs);
      }
      const waitSeconds = take(failuresByDoor, doorKey(caller), limits.failuresPerDoorPerMinute, nowMs);
      if (waitSeconds === 0 && address !== null) failuresByAddress.count(addressKey(caller, address), nowMs);
      return waitSeconds;
    },
  };
}

/** So many a minute for each address; where none can be trusted, so many for the whole door. */
function openBudget(perAddress: number, perBlindDoor: number) {
  const byAddress = new FixedWindow({ maxKeys: maxAddresses, windowMs });
  const byDoor = new FixedWindow({ maxKeys: maxDoors, windowMs });
  return (caller: UnverifiedCaller, nowMs: number): number =>
    caller.address === null
      ? take(byDoor, doorKey(caller), perBlindDoor, nowMs)
      : take(byAddress, addressKey(caller, caller.address), perAddress, nowMs);
}

function take(table: FixedWindow, key: string, limit: number, nowMs: number): number {
  const waitMs = table.waitMs(key, limit, nowMs);
  if (waitMs > 0) return wholeSeconds(waitMs);
  table.count(key, nowMs);
  return 0;
}

function wholeSeconds(waitMs: number): number {
  return Math.ceil(waitMs / 1_000);
}

const doorKeys = { local: new Map<string, string>(), remote: new Map<string, string>() };

/** Kept, because a text that was just put together is hashed anew at each look into a table. Doors have names of ours. */
function doorKey({ requestClass, door }: UnverifiedCaller): string {
  const keys = doorKeys[requestClass];
  let key = keys.get(door);
  if (key === undefined) {
    key = `${requestClass} ${door}`;
    if (keys.size < maxDoors) keys.set(door, key);
  }
  return key;
}

function addressKey(caller: UnverifiedCaller, address: string): string {
  return `${caller.requestClass} ${address}`;
}
