/** A small lasting store of this page, which its worker reads too: one per address of a daemon. */
export interface KeyValue {
  get(key: string): Promise<unknown>;
  set(key: string, value: unknown): Promise<void>;
  delete(key: string): Promise<void>;
  /** The values whose key begins so, in the order of their keys. */
  list(prefix: string): Promise<readonly unknown[]>;
  /** False once it is known that this browser stores nothing; what was set then lives as long as the page. */
  readonly isLasting: boolean;
}

const storeName = "values";

/**
 * IndexedDB, because workers have no `localStorage`. Never rejects: where the browser refuses to store (private windows,
 * full disks, a setting), values live as long as the page.
 *
 * @param base address of the daemon with its path: several may share an origin
 */
export function openKeyValue(base: string): KeyValue {
  const memory = new Map<string, unknown>();
  let isLasting = true;
  let opened: Promise<IDBDatabase> | null = null;

  async function attempt<T>(
    mode: IDBTransactionMode,
    use: (store: IDBObjectStore) => IDBRequest<T>,
  ): Promise<T | undefined> {
    try {
      opened ??= openDatabase(`sallyport ${new URL(base).pathname}`);
      const database = await opened;
      const transaction = database.transaction(storeName, mode);
      const value = await settled(use(transaction.objectStore(storeName)));
      // What was written counts when all of it has arrived: a page that is closed before loses it.
      if (mode === "readwrite") await committed(transaction);
      return value;
    } catch {
      // Refused by the browser: memory has it.
      isLasting = false;
      return undefined;
    }
  }

  return {
    async get(key) {
      return memory.has(key)
        ? memory.get(key)
        : await attempt<unknown>("readonly", (store) => store.get(key));
    },
    async set(key, value) {
      await attempt("readwrite", (store) => store.put(value, key));
      if (!isLasting) memory.set(key, value);
    },
    async delete(key) {
      memory.delete(key);
      await attempt("readwrite", (store) => store.delete(key));
    },
    async list(prefix) {
      const stored = await attempt<unknown[]>("readonly", (store) =>
        store.getAll(IDBKeyRange.bound(prefix, `${prefix}\uffff`)),
      );
      const remembered = [...memory]
        .filter(([key]) => key.startsWith(prefix))
        .sort(([a], [b]) => (a < b ? -1 : 1));
      return [...(stored ?? []), ...remembered.map(([, value]) => value)];
    },
    get isLasting() {
      return isLasting;
    },
  };
}

function openDatabase(name: string): Promise<IDBDatabase> {
  const request = indexedDB.open(name, 1);
  request.onupgradeneeded = () => request.result.createObjectStore(storeName);
  return settled(request);
}

function committed(transaction: IDBTransaction): Promise<void> {
  return new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => reject(transaction.error ?? new Error("The browser refused to store."));
  });
}

function settled<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error ?? new Error("The browser refused to store."));
  });
}
