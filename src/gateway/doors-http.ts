import { createServer, IncomingMessage, type Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { ArrivalKind } from "../auth/check-framing.ts";
import { limits } from "../protocol/limits.ts";

/**
 * Above our own limits, so that the table counts what was sent; beyond it the parser refuses. It bounds what one
 * half-open socket may hold.
 */
const parserHeaderBytes = 128 * 1024;

export interface ResponseWatcher {
  /** The answer has been handed to the system whole. */
  answered(): void;
}

/** Tells when its answer has left. A listener per request would say the same and cost more than the whole table. */
export class WatchedResponse extends ServerResponse {
  watcher: ResponseWatcher | null = null;

  override detachSocket(socket: Socket): void {
    super.detachSocket(socket);
    this.watcher?.answered();
    this.watcher = null;
  }
}

export interface HttpEvents {
  readonly onRequest: (
    kind: Exclude<ArrivalKind, "upgrade" | "connect">,
    request: IncomingMessage,
    response: WatchedResponse,
  ) => void;
  readonly onSocket: (
    kind: "upgrade" | "connect",
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
  ) => void;
  /** The parser refused: 431 for a header beyond its bound, 400 for everything else. */
  readonly onParserRefusal: (socket: Duplex, status: 400 | 431) => void;
}

export type HttpServer = Server<typeof IncomingMessage, typeof WatchedResponse>;

/**
 * An HTTP server that never listens: connections are given to it by `emit("connection", socket)`. Its parser drops
 * nothing and answers nothing itself, and its time-outs are off (but idleness), because the door has its own.
 */
export function createHttpServer(events: HttpEvents): HttpServer {
  const server = createServer({
    IncomingMessage,
    ServerResponse: WatchedResponse,
    maxHeaderSize: parserHeaderBytes,
    requireHostHeader: false,
    insecureHTTPParser: false,
    headersTimeout: 0,
    requestTimeout: 0,
    keepAliveTimeout: limits.idleConnectionMs,
  });
  // Node's default of 2,000 would drop lines in silence.
  server.maxHeadersCount = 0;
  server.on("request", (request, response) => events.onRequest("request", request, response));
  server.on("checkContinue", (request, response) => events.onRequest("continue", request, response));
  server.on("checkExpectation", (request, response) => events.onRequest("expectation", request, response));
  server.on("upgrade", (request, socket, head) => events.onSocket("upgrade", request, socket, head));
  server.on("connect", (request, socket, head) => events.onSocket("connect", request, socket, head));
  server.on("clientError", (error: NodeJS.ErrnoException, socket) =>
    events.onParserRefusal(socket, error.code === "HPE_HEADER_OVERFLOW" ? 431 : 400),
  );
  return server;
}
