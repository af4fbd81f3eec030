import type { PushKind } from "../../src/protocol/push.ts";

/** What this browser remembers of its own subscription, for the worker too. */
export interface PushRecord {
  /** Of the subscription at the daemon. */
  readonly id: string;
  readonly kinds: readonly PushKind[];
  /** The daemon's key that it was made with. */
  readonly public_key: string;
}

export const pushRecordKey = "push";

/** Reads what was stored; another version of the page may have written it. */
export function readPushRecord(raw: unknown): PushRecord | null {
  if (typeof raw !== "object" || raw === null) return null;
  const { id, kinds, public_key } = raw as Partial<PushRecord>;
  if (typeof id !== "string" || typeof public_key !== "string" || !Array.isArray(kinds)) return null;
  const known = kinds.filter((kind) => kind === "requests" || kind === "turns");
  return known.length === 0 ? null : { id, kinds: known, public_key };
}

/** The key as bytes, for browsers that take no text. */
export function applicationServerKey(publicKey: string): Uint8Array<ArrayBuffer> {
  const text = atob(publicKey.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}
