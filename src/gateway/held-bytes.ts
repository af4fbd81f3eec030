import type { Lease } from "../auth/principal.ts";

/** What one request or socket holds of the memory that the daemon spares for all of them. */
export interface HeldShare {
  /** Says how much is held now. False, and nothing changed, when that would be too much. */
  set(bytes: number): boolean;
}

/** A bound on what all clients together, and each principal alone, make the daemon hold. */
export interface HeldBytes {
  share(holder: string): HeldShare;
}

export interface HeldBytesBounds {
  readonly maxBytes: number;
  /** Less than `maxBytes`: one device that fills its part leaves room for the others. */
  readonly maxHolderBytes: number;
}

/** A `holder` is named by the caller, one name for all that the same principal holds; a share counts until it is set to 0. */
export function createHeldBytes({ maxBytes, maxHolderBytes }: HeldBytesBounds): HeldBytes {
  const byHolder = new Map<string, number>();
  let totalBytes = 0;

  function add(holder: string, bytes: number): void {
    const sum = (byHolder.get(holder) ?? 0) + bytes;
    totalBytes += bytes;
    if (sum === 0) byHolder.delete(holder);
    else byHolder.set(holder, sum);
  }

  return {
    share(holder) {
      let heldBytes = 0;
      return {
        set(bytes) {
          const moreBytes = bytes - heldBytes;
          if (moreBytes === 0) return true;
          const ownBytes = (byHolder.get(holder) ?? 0) + moreBytes;
          if (moreBytes > 0 && (totalBytes + moreBytes > maxBytes || ownBytes > maxHolderBytes)) return false;
          heldBytes = bytes;
          add(holder, moreBytes);
          return true;
        },
      };
    },
  };
}

/** Who holds it: a device, the master, or, where nobody is known yet, the public. */
export function holderOf(lease: Lease | null): string {
  if (!lease) return "public";
  return lease.principal.kind === "device" ? lease.principal.device : "master";
}
