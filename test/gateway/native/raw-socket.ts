import { connect, type Socket } from "node:net";
import type { TestApp } from "../harness.ts";

/** A WebSocket by hand: what the server sends is kept as raw bytes, and nothing is answered. */
export async function rawSocket(to: TestApp): Promise<{ socket: Socket; received: () => Buffer }> {
  const socket = connect(to.port, "127.0.0.1");
  socket.on("error", () => undefined);
  const chunks: Buffer[] = [];
  let head = Buffer.alloc(0);
  socket.write(
    "GET /api/ws HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
  );
  await new Promise<void>((resolve) => {
    socket.on("data", (chunk: Buffer) => {
      chunks.push(chunk);
      if (head.includes("\r\n\r\n")) return;
      head = Buffer.concat([head, chunk]);
      if (head.includes("\r\n\r\n")) resolve();
    });
  });
  return { socket, received: () => Buffer.concat(chunks) };
}

/** A client's text frame with a mask of zeros. */
export function maskedText(text: string): Buffer {
  const payload = Buffer.from(text);
  const header = Buffer.from([0x81, 0x80 | 126, 0, 0, 0, 0, 0, 0]);
  header.writeUInt16BE(payload.length, 2);
  return Buffer.concat([header, payload]);
}
