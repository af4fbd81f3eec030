/** A promise with its two ends in hand. */
export interface Deferred<T> {
  readonly promise: Promise<T>;
  readonly resolve: (value: T) => void;
  readonly reject: (error: Error) => void;
}

export function deferred<T>(): Deferred<T> {
  let resolve: (value: T) => void = unset;
  let reject: (error: Error) => void = unset;
  const promise = new Promise<T>((onResolve, onReject) => {
    resolve = onResolve;
    reject = onReject;
  });
  promise.catch(() => undefined); // Whoever awaits it sees the rejection; nobody waiting is no fault.
  return { promise, resolve, reject };
}

function unset(): never {
  throw new TypeError("used before its promise was made");
}
