import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { type ServerOptions, type WebSocket, WebSocketServer } from "ws";
import type { Refusal } from "../../errors.ts";
import { limits } from "../../protocol/limits.ts";
import { refusalBytes } from "../respond.ts";

/** Takes over an upgrade that passed the gate. */
export type UpgradeHandler = (request: IncomingMessage, socket: Socket, head: Buffer) => void;

/**
 * Does the WebSocket handshake (RFC 6455) for upgrades that passed the gate. `ws` itself and not @fastify/websocket: that
 * plugin sends each upgrade through a made-up response and hooks into every REST request, answers failed handshakes with
 * HTML, terminates a socket before its close frame has left, and closes with 1005 at shutdown.
 */
export function createAcceptor(): {
  accept: (request: IncomingMessage, socket: Socket, head: Buffer, accepted: (ws: WebSocket) => void) => void;
} {
  const settings: ServerOptions & { closeTimeout: number } = {
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: limits.frameBytes,
    closeTimeout: 5_000,
  };
  const server = new WebSocketServer(settings);
  server.on("wsClientError", (_error, socket) =>
    refuseUpgrade(socket, {
      code: "bad_request",
      message: "This is no WebSocket handshake (RFC 6455), or not of version 13.",
    }),
  );
  return {
    accept: (request, socket, head, accepted) => server.handleUpgrade(request, socket, head, accepted),
  };
}

/** Answers an upgrade with a plain HTTP error and ends its socket. */
export function refuseUpgrade(socket: Duplex, refusal: Refusal): void {
  socket.once("error", () => socket.destroy());
  socket.once("finish", () => socket.destroy());
  socket.end(refusalBytes(refusal));
}
