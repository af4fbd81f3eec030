import { once } from "node:events";
import { connect, type Socket } from "node:net";

export interface RawClientEvents {
  /** A text or binary frame has come in whole. */
  onFrame(client: RawClient): void;
  onClosed?(client: RawClient): void;
}

/**
 * A WebSocket client that only counts frames: the cheapest reader there is, so that the servers are measured and not their
 * clients. Answers pings and the close frame.
 */
export class RawClient {
  readonly socket: Socket;
  closeCode: number | null = null;
  readonly #events: RawClientEvents;
  #handshake = "";
  #upgraded: (() => void) | null = null;
  #header = Buffer.alloc(0);
  #opcode = 0;
  #payloadLeft = -1;
  #control = Buffer.alloc(0);

  constructor(port: number, events: RawClientEvents) {
    this.#events = events;
    this.socket = connect({
      port,
      host: "127.0.0.1",
      noDelay: true,
      onread: {
        buffer: Buffer.allocUnsafe(64 * 1024),
        callback: (bytes, buffer) => {
          this.#read((buffer as Buffer).subarray(0, bytes));
          return true;
        },
      },
    });
    this.socket.on("error", () => this.socket.destroy());
    this.socket.on("close", () => events.onClosed?.(this));
  }

  /** Resolves after the 101; rejects on any other answer. */
  async upgrade(path: string, token: string | null): Promise<void> {
    await once(this.socket, "connect");
    const { remotePort } = this.socket;
    const opened = new Promise<void>((resolve, reject) => {
      this.#upgraded = () => {
        if (this.#handshake.startsWith("HTTP/1.1 101")) resolve();
        else reject(new Error(`the upgrade was refused: ${this.#handshake.split("\r\n", 1)[0]}`));
      };
    });
    const lines = [
      `GET ${path} HTTP/1.1`,
      `Host: 127.0.0.1:${remotePort}`,
      "Connection: Upgrade",
      "Upgrade: websocket",
      "Sec-WebSocket-Version: 13",
      "Sec-WebSocket-Key: c2FsbHlwb3J0LWJlbmNoIQ==",
      ...(token === null ? [] : [`Authorization: Bearer ${token}`]),
    ];
    this.socket.write(`${lines.join("\r\n")}\r\n\r\n`);
    await opened;
  }

  /** Sends one text frame of at most 125 bytes, masked with zeros. */
  sendText(text: string): void {
    const payload = Buffer.from(text);
    if (payload.length > 125) throw new TypeError("too long for a short frame");
    this.socket.write(Buffer.concat([Buffer.from([0x81, 0x80 | payload.length, 0, 0, 0, 0]), payload]));
  }

  #read(chunk: Buffer): void {
    if (this.#upgraded !== null) {
      const text = this.#handshake + chunk.toString("latin1");
      const end = text.indexOf("\r\n\r\n");
      this.#handshake = text;
      if (end < 0) return;
      const rest = chunk.subarray(chunk.length - (text.length - end - 4));
      this.#upgraded();
      this.#upgraded = null;
      this.#frames(rest);
    } else this.#frames(chunk);
  }

  #frames(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length) {
      if (this.#payloadLeft < 0) at = this.#readHeader(chunk, at);
      if (this.#payloadLeft < 0) return;
      const taken = Math.min(this.#payloadLeft, chunk.length - at);
      if (this.#opcode >= 8) this.#control = Buffer.concat([this.#control, chunk.subarray(at, at + taken)]);
      at += taken;
      this.#payloadLeft -= taken;
      if (this.#payloadLeft > 0) return;
      this.#payloadLeft = -1;
      if (this.#opcode >= 8) this.#answerControl();
      else this.#events.onFrame(this);
    }
  }

  /** Returns where the payload begins; `#payloadLeft` stays -1 while the header is not whole (RFC 6455 §5.2, no mask). */
  #readHeader(chunk: Buffer, at: number): number {
    const before = this.#header.length;
    const bytes =
      before === 0 ? chunk.subarray(at, at + 10) : Buffer.concat([this.#header, chunk.subarray(at, at + 10)]);
    const short = (bytes[1] ?? 0) & 0x7f;
    const size = short === 126 ? 4 : short === 127 ? 10 : 2;
    if (bytes.length < size) {
      this.#header = Buffer.from(bytes);
      return chunk.length;
    }
    this.#header = Buffer.alloc(0);
    this.#opcode = (bytes[0] ?? 0) & 0x0f;
    this.#payloadLeft =
      short === 126 ? bytes.readUInt16BE(2) : short === 127 ? Number(bytes.readBigUInt64BE(2)) : short;
    return at + size - before;
  }

  #answerControl(): void {
    const payload = this.#control;
    this.#control = Buffer.alloc(0);
    if (this.#opcode === 10) return;
    if (this.#opcode === 8 && payload.length >= 2) this.closeCode = payload.readUInt16BE(0);
    // Masked with zeros, so that the payload stays as it is.
    const head = Buffer.from([this.#opcode === 9 ? 0x8a : 0x88, 0x80 | payload.length, 0, 0, 0, 0]);
    this.socket.write(Buffer.concat([head, payload]));
  }
}
