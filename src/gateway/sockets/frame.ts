const finalText = 0x81;

/**
 * One whole unmasked WebSocket text frame (RFC 6455, section 5.2), made once and written to any number of sockets as it
 * is: no header, copy or encoding per client. No extension is ever negotiated, so nothing else belongs into it.
 */
export function textFrame(payload: string | Buffer): Buffer {
  const length = typeof payload === "string" ? Buffer.byteLength(payload) : payload.length;
  const headerLength = length < 126 ? 2 : length < 65_536 ? 4 : 10;
  const frame = Buffer.allocUnsafe(headerLength + length);
  frame[0] = finalText;
  if (headerLength === 2) frame[1] = length;
  else if (headerLength === 4) {
    frame[1] = 126;
    frame.writeUInt16BE(length, 2);
  } else {
    frame[1] = 127;
    frame.writeBigUInt64BE(BigInt(length), 2);
  }
  if (typeof payload === "string") frame.write(payload, headerLength, "utf8");
  else payload.copy(frame, headerLength);
  return frame;
}
