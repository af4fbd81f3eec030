import { type ReadonlySignal, signal } from "@preact/signals";
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { ClientStatus } from "../../src/client/client.ts";
import { type ConnectedClient, createClient } from "../../src/client/create-client.ts";
import type { CommandInput, ReplyTo } from "../../src/client/replies.ts";
import type { Rest } from "../../src/client/rest.ts";
import type { AgentEvent } from "../../src/protocol/events.ts";
import type { Scope } from "../../src/protocol/scopes.ts";
import { errorText } from "./error-text.ts";
import type { KeyValue } from "./key-value.ts";
import { createOutbox, type Outbox } from "./outbox.ts";
import { createStore, type Store } from "./store.ts";
import { toast } from "./toasts.ts";
import { watchRefusals } from "./watch-refusals.ts";
import { hasOtherScopes } from "./watch-scopes.ts";

/** The status with the moment it began: a wait of `retryInMs` ends at `sinceMs + retryInMs`. */
export type ConnectionStatus = ClientStatus & { readonly sinceMs: number };

/** What a paired page talks through: one connection, and the state that comes over it. */
export interface Session extends Store {
  readonly client: ConnectedClient;
  readonly rest: Rest;
  /** Address of the daemon with a trailing slash. */
  readonly base: string;
  readonly status: ReadonlySignal<ConnectionStatus>;
  readonly isLive: ReadonlySignal<boolean>;
  /** Grows by one with every whole snapshot: what was heard before it may have gaps. */
  readonly generation: ReadonlySignal<number>;
  /** Prompts on their way: sent once each, over lost connections and reloads. Views send with `outbox.send`. */
  readonly outbox: Outbox;
  /** True when this device holds all of `scopes`. Reads signals. */
  may(...scopes: readonly Scope[]): boolean;
  /** Sends a command; what goes wrong is shown as a toast, and null comes back. */
  act<C extends CommandInput>(command: C): Promise<ReplyTo<C["type"]> | null>;
  /** Hears an agent's events as they come, each once and in order. `agent` null: those of all. */
  onEvent(agent: string | null, listener: (event: AgentEvent) => void): () => void;
  close(): void;
}

export interface SessionOptions {
  readonly base: string;
  readonly token: string;
  readonly version: string;
  /** Where unsent prompts are kept. */
  readonly keyValue: KeyValue;
}

/** `offline` too: a socket that is dead says so only much later, and the page would call itself live. */
const wakeEvents = ["visibilitychange", "pageshow", "online", "offline"] as const;

/** Connects, and stays connected until `close` or a reason to stop. */
export function openSession({ base, token, version, keyValue }: SessionOptions): Session {
  const store = createStore();
  const client = watchRefusals(createClient({ base, token, version }));
  const status = signal<ConnectionStatus>({ ...client.status, sinceMs: Date.now() });
  const isLive = signal(false);
  const generation = signal(0);
  const listeners = new Map<string, Set<(event: AgentEvent) => void>>();

  client.onStatus((next) => {
    status.value = { ...next, sinceMs: Date.now() };
    isLive.value = next.phase === "live";
  });
  client.onSnapshot((state) => {
    store.take(state);
    generation.value += 1;
  });
  client.onChange((change) => {
    store.noteOutcome(change);
    store.takeSoon(() => client.state);
    if (change.type !== "event") return;
    for (const key of [change.event.agent ?? "", ""])
      for (const listener of listeners.get(key) ?? []) listener(change.event);
  });

  const outbox = createOutbox(client, keyValue);
  outbox.resume().catch(() => undefined); // The client stopped before it was connected: the next page sends them.

  // Phones freeze pages and keep dead sockets: whoever comes back looks at once.
  const wake = (): void => {
    if (document.visibilityState !== "visible") return;
    client.wake();
    if (isLive.peek())
      void hasOtherScopes(client.rest, store.scopes.peek()).then((isSo) => isSo && client.refresh());
  };
  for (const event of wakeEvents) addEventListener(event, wake);

  return {
    ...store,
    client,
    rest: client.rest,
    base,
    status,
    isLive,
    generation,
    outbox,
    may: (...scopes) => scopes.every((scope) => store.scopes.value.has(scope)),
    async act(command) {
      try {
        return await client.command(command);
      } catch (error) {
        toast(errorText(error), { kind: "problem" });
        return null;
      }
    },
    onEvent(agent, listener) {
      const key = agent ?? "";
      const ofAgent = listeners.get(key) ?? new Set();
      listeners.set(key, ofAgent);
      ofAgent.add(listener);
      return () => {
        ofAgent.delete(listener);
        if (ofAgent.size === 0) listeners.delete(key);
      };
    },
    close() {
      for (const event of wakeEvents) removeEventListener(event, wake);
      client.close();
    },
  };
}

export const SessionContext = createContext<Session | null>(null);

/** The session of the paired page. Throws `TypeError` outside of it. */
export function useSession(): Session {
  const session = useContext(SessionContext);
  if (session === null) throw new TypeError("This view needs a paired page around it.");
  return session;
}
