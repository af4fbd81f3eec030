/** Where this browser keeps its own device token: one per address of a daemon. Nothing else is ever stored. */
export interface TokenStore {
  get(): string | null;
  set(token: string): void;
  forget(): void;
  /** False if the token lives only as long as this page, because the browser stores nothing. */
  readonly lasting: boolean;
}

/** @param base address of the daemon with its path: several may share an origin */
export function openTokenStore(storage: Storage | null, base: string): TokenStore {
  const key = `sallyport.token ${new URL(base).pathname}`;
  let memory: string | null = null;
  let lasting = storage !== null;
  const attempt = <T>(use: (storage: Storage) => T, otherwise: T): T => {
    if (!storage) return otherwise;
    try {
      return use(storage);
    } catch {
      // Private windows and full disks refuse to store; the token then lives as long as the page.
      lasting = false;
      return otherwise;
    }
  };
  return {
    get: () => memory ?? attempt((store) => store.getItem(key), null),
    set: (token) => {
      memory = token;
      attempt((store) => store.setItem(key, token), undefined);
    },
    forget: () => {
      memory = null;
      attempt((store) => store.removeItem(key), undefined);
    },
    get lasting() {
      return lasting;
    },
  };
}

/** The browser's storage, or null where even naming it is refused. */
export function browserStorage(): Storage | null {
  try {
    return window.localStorage;
  } catch {
    // Blocked by a setting of the browser.
    return null;
  }
}
