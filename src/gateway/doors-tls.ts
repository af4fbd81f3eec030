import type { Socket } from "node:net";
import { createServer, type Server } from "node:tls";
import { limits } from "../protocol/limits.ts";

export interface TlsFiles {
  /** PEM. */
  readonly cert: string;
  readonly keySecret: string;
}

/** Speaks TLS on connections that are given to it; never listens itself. */
export class TlsFront<T> {
  readonly #server: Server;
  readonly #pending = new Map<string, T>();

  /**
   * Throws when certificate or key cannot be used.
   *
   * @param onSecure called with the TLS socket and what `accept` was given, when the handshake is done
   */
  constructor(files: TlsFiles, onSecure: (socket: Socket, context: T) => void) {
    this.#server = createServer({
      cert: files.cert,
      key: files.keySecret,
      minVersion: "TLSv1.2",
      handshakeTimeout: limits.headerTimeoutMs,
      ALPNProtocols: ["http/1.1"],
      allowHalfOpen: true,
      noDelay: true,
    });
    this.#server.on("tlsClientError", (_error, socket) => socket.destroy());
    this.#server.on("secureConnection", (socket) => {
      const key = keyOf(socket);
      const context = this.#pending.get(key);
      if (context === undefined) socket.destroy();
      else onSecure(socket, context);
    });
  }

  accept(raw: Socket, context: T): void {
    const key = keyOf(raw);
    this.#pending.set(key, context);
    raw.once("close", () => this.#pending.delete(key));
    this.#server.emit("connection", raw);
  }
}

/** What names one TCP connection at one door, on the raw socket and on the TLS socket alike. */
function keyOf(socket: Socket): string {
  return `${socket.localAddress} ${socket.remoteAddress} ${socket.remotePort}`;
}
