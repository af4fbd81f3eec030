/** The JSON text of one object, encoded already: sent as it is where another answer would be stringified. */
export class JsonBytes {
  readonly bytes: Buffer;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
  }

  /** The same object with a `client_ref` as its first key. The object must not be empty. */
  withClientRef(clientRef: string): JsonBytes {
    const head = Buffer.from(`{"client_ref":${JSON.stringify(clientRef)},`);
    return new JsonBytes(Buffer.concat([head, this.bytes.subarray(1)]));
  }
}

/** The same for a small answer that is kept: Node sends a text together with its headers in one write, bytes in two parts. */
export class JsonText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}
