/** Who listens to one kind of news. */
export interface Listeners<Args extends readonly unknown[]> {
  /** Returns how to stop. */
  add(listener: (...args: Args) => void): () => void;
  tell(...args: Args): void;
}

/** A listener that throws stops neither the others nor the client; its error reaches the platform as any uncaught one. */
export function createListeners<Args extends readonly unknown[]>(): Listeners<Args> {
  const listeners = new Set<(...args: Args) => void>();
  return {
    add(listener) {
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
      };
    },
    tell(...args) {
      for (const listener of [...listeners]) {
        try {
          listener(...args);
        } catch (error) {
          queueMicrotask(() => {
            throw error;
          });
        }
      }
    },
  };
}
