import type { Socket } from "node:net";

/** The first byte of a TLS record that starts a handshake (RFC 8446 §5.1); no HTTP method begins with it. */
const tlsHandshake = 0x16;

/**
 * Waits for the first bytes of a connection, puts them back and tells what they are. The socket is paused then; a
 * silent one is for the caller's time-out to close.
 */
export function sniffFirstByte(socket: Socket, then: (isTls: boolean) => void): void {
  socket.once("data", (chunk: Buffer) => {
    socket.pause();
    socket.unshift(chunk);
    then(chunk[0] === tlsHandshake);
  });
}
