import type { KeyValue } from "./key-value.ts";

/** This browser's own device token, and which device it makes it. The master token is never kept. */
export interface Credential {
  readonly token: string;
  readonly device: string | null;
}

export interface CredentialStore {
  get(): Promise<Credential | null>;
  set(credential: Credential): Promise<void>;
  forget(): Promise<void>;
}

const key = "credential";

/** Keeps the token where the page and its worker find it and no other origin does. */
export function openCredentialStore(store: KeyValue, legacy: Storage | null, base: string): CredentialStore {
  const legacyKey = `sallyport.token ${new URL(base).pathname}`;
  return {
    async get() {
      const kept = readCredential(await store.get(key));
      if (kept !== null) return kept;
      const token = takeLegacy(legacy, legacyKey);
      if (token === null) return null;
      await store.set(key, { token, device: null });
      return { token, device: null };
    },
    set: (credential) => store.set(key, credential),
    forget: () => store.delete(key),
  };
}

/** Reads what was stored: another version of the page may have written it. */
function readCredential(raw: unknown): Credential | null {
  if (typeof raw !== "object" || raw === null || !("token" in raw) || typeof raw.token !== "string")
    return null;
  const device = "device" in raw && typeof raw.device === "string" ? raw.device : null;
  return { token: raw.token, device };
}

/** Up to version 0.1 the token was in `localStorage`, which the worker cannot read. */
function takeLegacy(legacy: Storage | null, legacyKey: string): string | null {
  try {
    const token = legacy?.getItem(legacyKey) ?? null;
    legacy?.removeItem(legacyKey);
    return token;
  } catch {
    return null; // The browser stores nothing.
  }
}
