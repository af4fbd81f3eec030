import type { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import { type IpAddress, isLoopbackIp, limitKey } from "../lib/ip-address.ts";
import { limits } from "../protocol/limits.ts";
import type { ResponseWatcher, WatchedResponse } from "./doors-http.ts";
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
export class Connection implements ResponseWatcher {
  readonly halfOpenKey: string | null;
  /** The TLS socket once TLS is up. */
  socket: Socket;
  peerFacts: PeerFacts;
  /** Some request on it was remote. */
  remote = false;
  phase: "open" | "upgraded" | "closing" = "open";

  readonly #halfOpen: HalfOpenSockets<Connection>;
  readonly #nowMs: () => number;
  readonly #acceptedAtMs: number;
  #authenticated = false;
  /** Requests so far, and how many of them are not answered yet. */
  #requests = 0;
  #serving = 0;
  /** The last request and its answer, as long as something of them is still to come. */
  #request: IncomingMessage | null = null;
  #response: WatchedResponse | null = null;
  #closingSinceMs = 0;
  /** What the sweep measures: what it saw last, since when, and how many bytes had come or gone by then. */
  #markDoing: "header" | "body" | "answer" = "header";
  #markRequests = 0;
  #markMs: number;
  #markBytes = 0;
  #headerSinceMs: number | null = null;

  constructor(options: ConnectionOptions) {
    this.socket = options.socket;
    const key = options.peer && limitKey(options.peer);
    this.halfOpenKey = options.limitPerAddress ? key : null;
    this.peerFacts = {
      address: options.peer,
      limitKey: key,
      loopback: options.peer !== null && isLoopbackIp(options.peer),
      secure: false,
    };
    this.#halfOpen = options.halfOpen;
    this.#nowMs = options.nowMs;
    this.#acceptedAtMs = options.nowMs();
    this.#markMs = this.#acceptedAtMs;
    this.#becomeHalfOpen();
  }

  /** A request is being answered, or the socket was upgraded. */
  get busy(): boolean {
    return this.phase === "upgraded" || this.#serving > 0;
  }

  /** An answer has begun to leave: nothing else may be written now. */
  get answering(): boolean {
    return this.#serving > 1 || this.#response?.headersSent === true;
  }

  /** A request header has come in. Until a credential was good, the socket is half-open whenever it is not served. */
  begin(request: IncomingMessage, response: WatchedResponse, hasBody: boolean): void {
    this.#requests += 1;
    this.#serving += 1;
    this.#request = request;
    this.#response = response;
    response.watcher = this;
    if (hasBody) this.socket.destroySoon = () => this.#closeWhenRead();
    if (this.#authenticated) return;
    if (!hasBody) this.#halfOpen.delete(this);
    else request.once("end", () => this.#halfOpen.delete(this));
  }

  answered(): void {
    this.#serving -= 1;
    if (this.#serving > 0) return;
    this.#response = null;
    if (this.#request?.complete) this.#request = null;
    this.#becomeHalfOpen();
  }

  /** The TLS handshake is done; requests come by `socket` from now on. */
  secured(socket: Socket): void {
    this.socket = socket;
    this.peerFacts = { ...this.peerFacts, secure: true };
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
    this.socket.destroySoon = () => this.#linger();
  }

  /** The HTTP server closes behind an answer. If the request is still coming in, the client would get a reset instead. */
  #closeWhenRead(): void {
    if (this.#request?.complete === false) this.#linger();
    else Socket.prototype.destroySoon.call(this.socket);
  }

  #linger(): void {
    if (this.phase !== "closing") this.#closingSinceMs = this.#nowMs();
    this.phase = "closing";
    this.socket.end();
    this.socket.resume();
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
    if (this.#requests === 0) return nowMs - this.#acceptedAtMs >= limits.headerTimeoutMs;
    if (this.#request?.complete === false) return this.#bodyOverdue(nowMs);
    return this.#serving > 0 ? this.#answerOverdue(nowMs) : this.#headerOverdue(nowMs);
  }

  #bodyOverdue(nowMs: number): boolean {
    const bytes = this.socket.bytesRead;
    if (this.#marked("body", bytes, nowMs) < bodyBackstopMs) return false;
    if (!this.#authenticated || bytes - this.#markBytes < limits.bodyProgressBytes) return true;
    this.#markMs = nowMs;
    this.#markBytes = bytes;
    return false;
  }

  /** A handler may take its time; a client that does not read what was written may not. */
  #answerOverdue(nowMs: number): boolean {
    const bytes = this.socket.bytesWritten - this.socket.writableLength;
    const sinceMs = this.#marked("answer", bytes, nowMs);
    if (this.#response?.writableEnded === true && bytes === this.#markBytes)
      return sinceMs >= limits.notReadingMs;
    this.#markMs = nowMs;
    this.#markBytes = bytes;
    return false;
  }

  #headerOverdue(nowMs: number): boolean {
    const bytes = this.socket.bytesRead;
    const sinceMs = this.#marked("header", bytes, nowMs);
    if (bytes === this.#markBytes) return sinceMs >= limits.idleConnectionMs;
    this.#headerSinceMs ??= nowMs;
    return nowMs - this.#headerSinceMs >= limits.headerTimeoutMs;
  }

  /** Milliseconds since the sweep first saw the connection in this state. */
  #marked(doing: "header" | "body" | "answer", bytes: number, nowMs: number): number {
    if (this.#markRequests !== this.#requests || this.#markDoing !== doing) {
      this.#markRequests = this.#requests;
      this.#markDoing = doing;
      this.#markMs = nowMs;
      this.#markBytes = bytes;
      this.#headerSinceMs = null;
    }
    return nowMs - this.#markMs;
  }

  #becomeHalfOpen(): void {
    if (this.phase !== "open" || this.#authenticated || this.socket.destroyed) return;
    this.#halfOpen.add(this, this.#nowMs())?.destroy();
  }
}
