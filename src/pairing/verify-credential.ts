import {
  peekDevice,
  type RawDeviceToken,
  signingKeyOf,
  splitDeviceToken,
  type TokenKey,
  type TokenKeys,
  verifyDeviceToken,
} from "../auth/device-token.ts";
import type { Lease, RequestClass, VerifyCredential } from "../auth/principal.ts";
import type { TicketBook } from "../auth/ticket-book.ts";
import type { TokenDigester } from "../auth/token-digest.ts";
import type { TokenHasher } from "../auth/token-hash.ts";
import { limits } from "../protocol/limits.ts";
import type { DeviceRegistry, RegisteredDevice } from "./device-registry.ts";
import type { MasterToken } from "./master-token-keeper.ts";

export interface CredentialCheckOptions {
  readonly master: MasterToken;
  readonly devices: DeviceRegistry;
  readonly tickets: TicketBook;
  readonly keys: TokenKeys;
  readonly hasher: TokenHasher;
  readonly digester: TokenDigester;
}

/**
 * Judges what a request presents. From cheap to dear: size, the digest of what was verified before, device known,
 * signature (one HMAC), then once per process and token jose's strict check and the argon2id hash. Only "this digest was
 * verified" is remembered, one per device; whether the device still counts is read from the registry at each request.
 */
export function createCredentialCheck(options: CredentialCheckOptions): VerifyCredential {
  const { devices } = options;
  /** Digest of a verified token -> device. One token a device, so that it is as bounded as the registry. */
  const verified = new Map<string, string>();
  const digestOf = new Map<string, string>();
  /** Many requests with one new token cost one hash. */
  const checking = new Map<string, Promise<boolean>>();

  /** The device's lease if it counts for this request. */
  function usable(device: RegisteredDevice | null, requestClass: RequestClass): Lease | null {
    if (!device || device.lease.ended) return null;
    return device.lease.localOnly && requestClass !== "local" ? null : device.lease;
  }

  function accept(id: string, requestClass: RequestClass): Lease | null {
    const lease = usable(devices.get(id), requestClass);
    if (lease) devices.touch(id);
    return lease;
  }

  function remember(digest: string, id: string): void {
    const before = digestOf.get(id);
    if (before !== undefined) verified.delete(before);
    else forgetUnknown();
    verified.set(digest, id);
    digestOf.set(id, digest);
  }

  /** Digests of devices that are gone are worthless; they are dropped before one is added. */
  function forgetUnknown(): void {
    for (const [id, digest] of digestOf)
      if (!devices.get(id)) {
        digestOf.delete(id);
        verified.delete(digest);
      }
  }

  async function checkOnce(token: RawDeviceToken, key: TokenKey, device: RegisteredDevice): Promise<boolean> {
    const claims = await verifyDeviceToken(token, key);
    return claims !== null && options.hasher.verify(device.stored.token_hash, claims.tokenSecret);
  }

  async function verifyNew(
    token: RawDeviceToken,
    key: TokenKey,
    device: RegisteredDevice,
    digest: string,
  ): Promise<boolean> {
    let check = checking.get(digest);
    if (!check) {
      check = checkOnce(token, key, device).finally(() => checking.delete(digest));
      checking.set(digest, check);
    }
    if (!(await check)) return false;
    if (devices.get(token.rawDevice)) remember(digest, token.rawDevice);
    return true;
  }

  function deviceLease(
    rawToken: string,
    digest: string,
    requestClass: RequestClass,
  ): Lease | null | Promise<Lease | null> {
    const known = verified.get(digest);
    if (known !== undefined) return accept(known, requestClass);
    const named = peekDevice(rawToken);
    if (named !== null && !devices.get(named)) return null;
    const token = splitDeviceToken(rawToken);
    if (!token) return null;
    const device = devices.get(token.rawDevice);
    if (!device || !usable(device, requestClass)) return null;
    const key = signingKeyOf(token, options.keys);
    if (!key) return null;
    return verifyNew(token, key, device, digest).then((holds) =>
      holds ? accept(token.rawDevice, requestClass) : null,
    );
  }

  return (raw, requestClass) => {
    if (raw.kind === "ticket") return options.tickets.take(raw.rawTicket, requestClass, raw.purpose);
    const { rawToken } = raw;
    if (rawToken === "" || rawToken.length > limits.tokenBytes) return null;
    const digest = options.digester.digest(rawToken);
    // On a remote request the master token is a wrong token like any other.
    const master = requestClass === "local" ? options.master.check(digest) : null;
    return master ?? deviceLease(rawToken, digest, requestClass);
  };
}
