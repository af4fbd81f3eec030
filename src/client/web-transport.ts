import { UnreachableError } from "./answer-error.ts";
import type { OpenSocket, OpenSocketAt } from "./connection.ts";
import type { HttpAnswer, SendHttp } from "./rest.ts";

/** As much of the WebSocket of browsers (and of Node, and of the package `ws`) as is used. */
export interface WebSocketLike {
  onopen: ((event: never) => void) | null;
  onerror: ((event: never) => void) | null;
  onmessage: ((event: { readonly data: unknown } & never) => void) | null;
  onclose: ((event: { readonly code: number; readonly reason: string } & never) => void) | null;
  send(data: string): void;
  close(code?: number): void;
}
export type WebSocketConstructor = new (url: string) => WebSocketLike;

export interface WebSocketOpenerOptions {
  readonly base: string;
  /** Called for each connection, because it may have to be loaded. */
  readonly construct: () => WebSocketConstructor | Promise<WebSocketConstructor>;
  /** A fresh ticket, which counts once: a token in an address would end up in logs. */
  readonly ticket: () => Promise<string>;
}

/** Opens the native socket with the platform's WebSocket, which cannot send a header. */
export function webSocketOpener(options: WebSocketOpenerOptions): OpenSocketAt {
  return async (path, handlers) => {
    const [construct, ticket] = await Promise.all([options.construct(), options.ticket()]);
    const url = `${options.base.replace(/^http/, "ws")}${path}&ticket=${encodeURIComponent(ticket)}`;
    return new Promise<OpenSocket>((resolve, reject) => {
      const socket = new construct(url);
      let isOpen = false;
      socket.onopen = () => {
        isOpen = true;
        resolve({
          send: (text) => socket.send(text),
          close: (code) => socket.close(code),
        });
      };
      // A close follows, and tells as much as there is to know.
      socket.onerror = () => undefined;
      socket.onmessage = ({ data }: { readonly data: unknown }) => {
        if (typeof data === "string") handlers.message(data);
      };
      socket.onclose = ({ code, reason }: { readonly code: number; readonly reason: string }) => {
        if (isOpen) handlers.close(code, reason);
        else reject(new UnreachableError(`The daemon opened no socket (${code}).`));
      };
    });
  };
}

/** Sends with `fetch`. No redirect is followed: the token is for the base alone. */
export const sendWithFetch: SendHttp = async (request): Promise<HttpAnswer> => {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), request.timeoutMs);
  try {
    const init = {
      method: request.method,
      headers: { ...request.headers },
      body: request.body,
      redirect: "error",
      credentials: "omit",
      // Known to browsers only.
      cache: "no-store",
      signal: controller.signal,
    } as const;
    const answer = await fetch(request.url, init);
    return { status: answer.status, text: await answer.text() };
  } catch (error) {
    throw new UnreachableError(`${new URL(request.url).origin} does not answer (${reasonOf(error)}).`);
  } finally {
    clearTimeout(timer);
  }
};

/** `fetch` of Node hides the reason in the cause. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return cause instanceof Error ? cause.message : String(cause);
}
