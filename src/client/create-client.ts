import { UnreachableError } from "./answer-error.ts";
import { readBase } from "./base-address.ts";
import type { Client } from "./client.ts";
import { createLiveClient } from "./live-client.ts";
import type { Random } from "./random.ts";
import { createRest, type Rest, type SendHttp } from "./rest.ts";
import { sendWithFetch, type WebSocketConstructor, webSocketOpener } from "./web-transport.ts";

export interface ClientOptions {
  /** The daemon's address, as `pair` takes it: `https://box.example/sally`. */
  readonly base: string;
  /** The device token that `pair` gave. It is sent to `base` and nowhere else, and never in an address. */
  readonly token: string;
  /** This program's version, if it is one of Sallyport: then `state.daemon.version_mismatch` says whether the two differ. */
  readonly version?: string;
  /** Default: the platform's, and in a Node without one that of the package `ws`. */
  readonly WebSocket?: WebSocketConstructor;
  /** Default: the platform's `fetch`. */
  readonly send?: SendHttp;
  /** Spreads the waits; default: the platform's generator. */
  readonly random?: Random;
}

export interface ConnectedClient extends Client {
  /** The REST half of the protocol, with the same token. */
  readonly rest: Rest;
}

/**
 * Connects to a daemon and stays connected. Throws `TypeError` for an address that is none.
 *
 * Whatever the base, the socket is opened with a one-use ticket, because the WebSocket of browsers sends no header.
 */
export function createClient(options: ClientOptions): ConnectedClient {
  const address = readBase(options.base);
  if (!address.ok) throw new TypeError(`base: ${address.hint}`);
  const { base } = address;
  const rest = createRest({ base, token: options.token, send: options.send ?? sendWithFetch });
  const given = options.WebSocket;
  const client = createLiveClient({
    open: webSocketOpener({
      base,
      construct: () => given ?? platformWebSocket(),
      ticket: async () => (await rest.body<{ ticket: string }>("POST", "/api/ws/ticket", {})).ticket,
    }),
    rest,
    version: options.version ?? "unknown",
    ...(options.random === undefined ? {} : { random: options.random }),
  });
  // Assigning would read the client's getters once and keep what they said.
  return Object.defineProperty(client, "rest", { value: rest, enumerable: true }) as ConnectedClient;
}

async function platformWebSocket(): Promise<WebSocketConstructor> {
  const { WebSocket } = globalThis as { readonly WebSocket?: WebSocketConstructor };
  if (WebSocket !== undefined) return WebSocket;
  try {
    return (await import("ws")).WebSocket as unknown as WebSocketConstructor;
  } catch {
    throw new UnreachableError(
      "This Node has no WebSocket. Install the package ws, or pass one in `WebSocket`.",
    );
  }
}
