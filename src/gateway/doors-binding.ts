import type { Bind } from "./doors-hosts.ts";
import { type AcceptSocket, isMissingAddress, type Listener, listenTcp } from "./doors-listen.ts";

const triesForAFreePort = 8;
/** Under a flood there is always one more. */
const maxTurnsForAccepting = 256;

/** The TCP listeners of one door: all on one port, changed as a whole. */
export class TcpBinding {
  readonly #accept: AcceptSocket;
  readonly #anyPort: boolean;
  #port: number;
  #binds: readonly Bind[] = [];
  #listeners: Listener[] = [];
  #last: Promise<unknown> = Promise.resolve();
  #accepted = 0;

  /** @param port 0 picks a free one at the first `set`, and keeps it */
  constructor(port: number, accept: AcceptSocket) {
    this.#port = port;
    this.#anyPort = port === 0;
    this.#accept = (socket) => {
      this.#accepted += 1;
      accept(socket);
    };
  }

  get port(): number {
    return this.#port;
  }

  get texts(): readonly string[] {
    return this.#listeners.map((listener) => listener.text);
  }

  /**
   * Listens on exactly these addresses from now on; one change after the other. Connections stay, whatever listener took them. When one cannot be
   * bound, those of before are bound again and the promise rejects with the system's error.
   */
  set(binds: readonly Bind[]): Promise<void> {
    const change = this.#last.then(() => this.#replace(binds));
    this.#last = change.catch(() => this.#binds);
    return change;
  }

  close(): void {
    for (const listener of this.#listeners) listener.close();
    this.#listeners = [];
    this.#binds = [];
  }

  async #replace(binds: readonly Bind[]): Promise<void> {
    const before = this.#binds;
    try {
      await this.#change(binds);
    } catch (error) {
      if (before.length > 0) await this.#change(before);
      else this.close();
      throw error;
    }
  }

  async #change(binds: readonly Bind[]): Promise<void> {
    const wanted = new Set(binds.map((bind) => bind.host));
    const going = this.#listeners.filter((listener) => !wanted.has(listener.host));
    if (going.length > 0) await this.#acceptWaiting();
    // A wildcard and a single address exclude each other on one port, so what goes must be gone first.
    for (const listener of going) listener.close();
    this.#listeners = this.#listeners.filter((listener) => wanted.has(listener.host));
    for (let left = triesForAFreePort; ; left--) {
      try {
        for (const bind of binds) await this.#open(bind);
        this.#binds = binds;
        return;
      } catch (error) {
        if (!this.#mayTryAnotherPort(error) || left <= 1) throw error;
        for (const listener of this.#listeners) listener.close();
        this.#listeners = [];
        this.#port = 0;
      }
    }
  }

  /** Closing a listener resets whoever has connected and was not accepted yet. One is accepted in each turn of the loop. */
  async #acceptWaiting(): Promise<void> {
    for (let turns = 0; turns < maxTurnsForAccepting; turns++) {
      const before = this.#accepted;
      await nextPoll();
      if (this.#accepted === before) return;
    }
  }

  async #open(bind: Bind): Promise<void> {
    if (this.#listeners.some((listener) => listener.host === bind.host)) return;
    try {
      await this.#listen(bind.host);
    } catch (error) {
      if (bind.whenMissing === "fail" || !isMissingAddress(error)) throw error;
      if (bind.whenMissing !== "skip") await this.#listen(bind.whenMissing.bind);
    }
  }

  async #listen(host: string): Promise<void> {
    const listener = await listenTcp(host, this.#port, this.#accept);
    this.#port = listener.port ?? this.#port;
    this.#listeners.push(listener);
  }

  /** A port that the system picked for one address may be taken on the next; only at the first time may it change. */
  #mayTryAnotherPort(error: unknown): boolean {
    const taken = (error as NodeJS.ErrnoException).code === "EADDRINUSE";
    return taken && this.#anyPort && this.#binds.length === 0;
  }
}

/** Resolves when the event loop has looked at all sockets once more. */
function nextPoll(): Promise<void> {
  return new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
}
