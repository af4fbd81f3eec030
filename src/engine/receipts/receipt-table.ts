import type { Refusal } from "../../errors.ts";
import { engineLimits } from "../engine-limits.ts";
import type { ReceiptPlace } from "./receipt-records.ts";

export type Receipt =
  | { readonly at: number; readonly status: "accepted"; readonly place: ReceiptPlace }
  | {
      readonly at: number;
      readonly status: "rejected";
      readonly error: Pick<Refusal, "code" | "message" | "reason" | "field">;
    };

/** The receipts that are kept: 10,000 and 30 days. When there are more, the owner with the most loses its oldest. */
export interface ReceiptTable {
  readonly size: number;
  get(owner: string, requestId: string): Receipt | null;
  set(owner: string, requestId: string, receipt: Receipt): void;
  entries(): { readonly owner: string; readonly requestId: string; readonly receipt: Receipt }[];
}

export function createReceiptTable(now: () => number): ReceiptTable {
  const owners = new Map<string, Map<string, Receipt>>();
  let size = 0;

  function remove(owner: string, requestId: string): void {
    const own = owners.get(owner);
    if (!own?.delete(requestId)) return;
    size -= 1;
    if (own.size === 0) owners.delete(owner);
  }

  /** One device that floods us must not make us forget what another was told. */
  function evict(): void {
    let most: string | null = null;
    let count = 0;
    for (const [owner, own] of owners) {
      if (own.size > count) [most, count] = [owner, own.size];
    }
    const oldest = most === null ? undefined : owners.get(most)?.keys().next().value;
    if (most !== null && oldest !== undefined) remove(most, oldest);
  }

  const expired = (receipt: Receipt): boolean => now() - receipt.at > engineLimits.receiptAgeMs;

  return {
    get size() {
      return size;
    },
    get(owner, requestId) {
      const receipt = owners.get(owner)?.get(requestId);
      // An old one is not forgotten here: a clock that jumped ahead may jump back, and the prompt must not run twice.
      return receipt && !expired(receipt) ? receipt : null;
    },
    set(owner, requestId, receipt) {
      if (expired(receipt)) return;
      remove(owner, requestId);
      const own = owners.get(owner) ?? new Map<string, Receipt>();
      owners.set(owner, own);
      own.set(requestId, receipt);
      size += 1;
      while (size > engineLimits.receipts) evict();
    },
    entries() {
      return [...owners].flatMap(([owner, own]) =>
        [...own]
          .filter(([, receipt]) => !expired(receipt))
          .map(([requestId, receipt]) => ({ owner, requestId, receipt })),
      );
    },
  };
}
