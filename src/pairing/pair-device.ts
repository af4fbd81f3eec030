import type { AuditSink } from "../auth/audit.ts";
import { mintDeviceToken, type TokenKeys } from "../auth/device-token.ts";
import type { Lease, RequestClass } from "../auth/principal.ts";
import type { TicketBook } from "../auth/ticket-book.ts";
import type { TokenHasher } from "../auth/token-hash.ts";
import { SallyportError } from "../errors.ts";
import { type Clock, toTime } from "../lib/clock.ts";
import { newId } from "../lib/ids.ts";
import type { DeviceKind, PairedDevice } from "../protocol/objects.ts";
import { type Scope, scopes as scopeOrder } from "../protocol/scopes.ts";
import type { CodeBook, CodeGrant } from "./code-book.ts";
import { parseDeviceName } from "./device-name.ts";
import { type DeviceRegistry, toPairedDevice } from "./device-registry.ts";
import { byOf } from "./device-rules.ts";

/** The answer to a claim. The token is in it once and kept nowhere but in the winner's repeat. */
export interface Paired {
  readonly token: string;
  readonly device: PairedDevice;
}

export interface PairRequest {
  readonly rawName: string;
  readonly kind: DeviceKind | null;
  readonly requestClass: RequestClass;
  /** What limits are counted under; null or absent where no address can be trusted. */
  readonly clientAddress?: string | null;
}

export interface Pairing {
  /** Trades a code for a device token. Errors as `CodeBook.redeem`, and `invalid_field` for the name. */
  byCode(request: PairRequest & { readonly rawCode: string; readonly nonce: string | null }): Promise<Paired>;
  /** Trades a page ticket of the master for a device that counts on local requests only. */
  byTicket(request: PairRequest & { readonly rawTicket: string }): Promise<Paired>;
}

export interface PairingOptions {
  readonly codes: CodeBook<Paired>;
  readonly tickets: TicketBook;
  readonly devices: DeviceRegistry;
  readonly hasher: TokenHasher;
  readonly keys: TokenKeys;
  readonly clock: Clock;
  readonly audit: AuditSink;
}

interface NewDevice {
  readonly name: string;
  readonly kind: DeviceKind;
  readonly minter: Lease;
  /** What it may get at most; cut to what the minter holds at the moment of pairing. */
  readonly scopes: readonly Scope[];
  readonly expiresAtMs: number | null;
  readonly localOnly: boolean;
}

const dayMs = 24 * 60 * 60 * 1000;

/** Makes devices: the token is signed, its secret hashed, the device on disk, and only then is the token given away. */
export function createPairing(options: PairingOptions): Pairing {
  const { clock, devices } = options;

  async function make(device: NewDevice): Promise<Paired> {
    const now = clock.now();
    const id = newId();
    const { token, tokenSecret } = await mintDeviceToken(id, options.keys.current, now);
    const tokenHash = await options.hasher.hash(tokenSecret);
    // The minter may have been revoked or narrowed while the hash was made; what follows up to `add` is synchronous.
    const scopes = scopeOrder.filter(
      (scope) => device.scopes.includes(scope) && device.minter.scopes.has(scope),
    );
    if (device.minter.ended || scopes.length === 0) throw refused();
    const added = await devices.add({
      id,
      name: device.name,
      kind: device.kind,
      scopes,
      created: toTime(now),
      expires: device.expiresAtMs === null ? null : toTime(device.expiresAtMs),
      last_seen: null,
      local_only: device.localOnly,
      token_hash: tokenHash,
    });
    if (added.lease.ended) throw refused();
    options.audit({
      type: "device_paired",
      device: id,
      name: device.name,
      kind: device.kind,
      scopes,
      local_only: device.localOnly,
      by: byOf(device.minter),
    });
    return { token, device: toPairedDevice(added.stored) };
  }

  function fromGrant(grant: CodeGrant, name: string, kind: DeviceKind): Promise<Paired> {
    // A device that may no longer make codes has made none.
    if (!grant.minter.scopes.has("admin")) return Promise.reject(refused());
    return make({
      name,
      kind,
      minter: grant.minter,
      scopes: grant.scopes,
      expiresAtMs: earliest(
        grant.expiresDays === null ? null : clock.now() + grant.expiresDays * dayMs,
        grant.minter.expiresAtMs,
      ),
      localOnly: false,
    });
  }

  return {
    async byCode(request) {
      const name = parseDeviceName(request.rawName);
      const paired = await options.codes.redeem(request, (grant) =>
        fromGrant(grant, name, request.kind ?? "other"),
      );
      // A repeat must not hand out the token of a device that was revoked since.
      const device = devices.get(paired.device.id);
      if (!device || device.lease.ended) throw refused();
      return { token: paired.token, device: toPairedDevice(device.stored) };
    },
    async byTicket(request) {
      const name = parseDeviceName(request.rawName);
      // No flood of guesses keeps a right ticket out: only wrong ones are counted, and none of 256 bits is guessed.
      const minter = options.tickets.take(request.rawTicket, request.requestClass, "page");
      if (minter?.principal.kind !== "master") {
        options.codes.countAttempt(request);
        throw refusedTicket();
      }
      return make({
        name,
        kind: request.kind ?? "browser",
        minter,
        scopes: scopeOrder,
        expiresAtMs: null,
        localOnly: true,
      });
    },
  };
}

function earliest(a: number | null, b: number | null): number | null {
  if (a === null || b === null) return a ?? b;
  return Math.min(a, b);
}

function refused(): SallyportError {
  return new SallyportError(
    "pairing_refused",
    "This code is wrong, used or expired. Make a new one: sallyport pair",
  );
}

function refusedTicket(): SallyportError {
  return new SallyportError(
    "pairing_refused",
    "This link is used or expired. Open the page again: sallyport web --open",
  );
}
