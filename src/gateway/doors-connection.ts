import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { type IpAddress, isLoopbackIp, limitKey } from "../auth/ip-address.ts";
import { limits } from "../protocol/limits.ts";
import type { PeerFacts } from "./gate-pass.ts";
import type { HalfOpenSockets } from "./half-open.ts";

/** How long a refused client may go on sending before its connection is cut: long enough to read the answer. */
const lingerMs = 1_000;
/** Whoever reads a body has the same bound and an answer for it; here it is for bodies that nobody reads. */
const bodyBackstopMs = limits.bodyTimeoutMs + 1_000;

export interface ConnectionOptions {
  readonly socket: Socket;
  /** Null for a Unix socket. */
  readonly peer: IpAddress | null;
  /** False at doors whose peers are all the same. */
  readonly limitPerAddress: boolean;
  readonly halfOpen: HalfOpenSockets<Connection>;
  readonly nowMs: () => number;
}

/** One accepted socket: how far it has got, and when it has had its time. */
export class Connection {
  readonly halfOpenKey: string | null;
  readonly peer: IpAddress | null;
  /** The TLS socket once TLS is up. */
  socket: Socket;
  secure = false;
  /** Some request on it was remote. */
  remote = false;
  phase: "open" | "upgraded" | "closing" = "open";

  readonly #halfOpen: HalfOpenSockets<Connection>;
  readonly #nowMs: () => number;
  readonly #acceptedAtMs: number;
  #authenticated = false;
  #serving = 0;
  #request: IncomingMessage | null = null;
  #response: ServerResponse | null = null;
  #closingSinceMs = 0;
  /** What the sweep measures: which request and phase it saw last, since when, and how many bytes had come by then. */
  #mark: { readonly of: IncomingMessage | null; readonly doing: "header" | "body" | "answer" };
  #markMs: number;
  #markBytes = 0;
  #headerSinceMs: number | null = null;

  constructor(options: ConnectionOptions) {
    this.socket = options.socket;
    this.peer = options.peer;
    this.halfOpenKey = options.limitPerAddress && options.peer ? limitKey(options.peer) : null;
    this.#halfOpen = options.halfOpen;
    this.#nowMs = options.nowMs;
    this.#acceptedAtMs = options.nowMs();
    this.#markMs = this.#acceptedAtMs;
    this.#mark = { of: null, doing: "header" };
    this.#becomeHalfOpen();
  }

  get peerFacts(): PeerFacts {
    return {
      address: this.peer,
      loopback: this.peer !== null && isLoopbackIp(this.peer),
      secure: this.secure,
    };
  }

  /** A request is being answered or its body is awaited, or the socket was upgraded. */
  get busy(): boolean {
    return this.phase === "upgraded" || (this.#response !== null && !this.#response.writableFinished);
  }

  /** An answer has begun to leave: nothing else may be written now. */
  get answering(): boolean {
    return this.#response?.headersSent === true && !this.#response.writableFinished;
  }

  /** A request header has come in. Until a credential was good, the socket is half-open whenever it is not served. */
  begin(request: IncomingMessage, response: ServerResponse, hasBody: boolean): void {
    this.#request = request;
    this.#response = response;
    if (this.#authenticated) return;
    this.#serving += 1;
    if (!hasBody) this.#halfOpen.delete(this);
    else request.once("end", () => this.#halfOpen.delete(this));
    response.once("close", () => {
      this.#serving -= 1;
      if (this.#serving === 0) this.#becomeHalfOpen();
    });
  }

  /** A credential on this connection was good: it no longer counts as half-open. */
  authenticated(): void {
    if (this.#authenticated) return;
    this.#authenticated = true;
    this.#halfOpen.delete(this);
  }

  /** The socket now belongs to a WebSocket, which has its own pings. */
  upgraded(): void {
    this.phase = "upgraded";
    this.#halfOpen.delete(this);
    this.socket.setTimeout(0);
  }

  /**
   * The next answer is the last. What the client still sends is discarded for a second, so that it can read the answer
   * instead of a reset (RFC 9112 §9.6).
   */
  closeAfterAnswer(): void {
    if (this.phase === "closing") return;
    this.phase = "closing";
    this.#closingSinceMs = this.#nowMs();
    const { socket } = this;
    socket.destroySoon = () => {
      socket.end();
      socket.resume();
    };
  }

  /** Writes a last answer on a socket that the HTTP server has let go, and closes it. */
  endWith(bytes: string, unreadInput: boolean): void {
    if (!this.socket.writable) {
      this.socket.destroy();
      return;
    }
    this.closeAfterAnswer();
    if (unreadInput) {
      this.socket.end(bytes);
      this.socket.resume();
    } else this.socket.end(bytes, () => this.socket.destroy());
  }

  destroy(): void {
    this.socket.destroy();
  }

  closed(): void {
    this.phase = "closing";
    this.#halfOpen.delete(this);
  }

  /** Whether the connection has had its time: a slow or silent header or body, an unread answer, idleness. */
  overdue(nowMs: number): boolean {
    if (this.phase === "upgraded") return false;
    if (this.phase === "closing") return nowMs - this.#closingSinceMs >= lingerMs;
    const request = this.#request;
    if (request === null) return nowMs - this.#acceptedAtMs >= limits.headerTimeoutMs;
    if (!request.complete) return this.#bodyOverdue(request, nowMs);
    if (this.#response !== null && !this.#response.writableFinished)
      return this.#answerOverdue(request, this.#response, nowMs);
    return this.#headerOverdue(request, nowMs);
  }

  #bodyOverdue(request: IncomingMessage, nowMs: number): boolean {
    const bytes = this.socket.bytesRead;
    if (this.#marked(request, "body", bytes, nowMs) < bodyBackstopMs) return false;
    if (!this.#authenticated || bytes - this.#markBytes < limits.bodyProgressBytes) return true;
    this.#markMs = nowMs;
    this.#markBytes = bytes;
    return false;
  }

  /** A handler may take its time; a client that does not read what was written may not. */
  #answerOverdue(request: IncomingMessage, response: ServerResponse, nowMs: number): boolean {
    const bytes = this.socket.bytesWritten - this.socket.writableLength;
    const sinceMs = this.#marked(request, "answer", bytes, nowMs);
    if (response.writableEnded && bytes === this.#markBytes) return sinceMs >= limits.notReadingMs;
    this.#markMs = nowMs;
    this.#markBytes = bytes;
    return false;
  }

  #headerOverdue(request: IncomingMessage, nowMs: number): boolean {
    const bytes = this.socket.bytesRead;
    const sinceMs = this.#marked(request, "header", bytes, nowMs);
    if (bytes === this.#markBytes) return sinceMs >= limits.idleConnectionMs;
    this.#headerSinceMs ??= nowMs;
    return nowMs - this.#headerSinceMs >= limits.headerTimeoutMs;
  }

  /** Milliseconds since the sweep first saw the connection in this state. */
  #marked(of: IncomingMessage, doing: "header" | "body" | "answer", bytes: number, nowMs: number): number {
    if (this.#mark.of !== of || this.#mark.doing !== doing) {
      this.#mark = { of, doing };
      this.#markMs = nowMs;
      this.#markBytes = bytes;
      this.#headerSinceMs = null;
    }
    return nowMs - this.#markMs;
  }

  #becomeHalfOpen(): void {
    if (this.phase !== "open" || this.#authenticated || this.socket.destroyed) return;
    this.#halfOpen.add(this)?.destroy();
  }
}
