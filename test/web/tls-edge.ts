import { once } from "node:events";
import { readFileSync } from "node:fs";
import { type AddressInfo, connect, type Socket } from "node:net";
import { createServer } from "node:tls";
import { fileURLToPath } from "node:url";

const pem = (name: string) =>
  readFileSync(fileURLToPath(new URL(`../gateway/gate/tls/${name}.pem`, import.meta.url)));

export interface TlsEdge {
  readonly port: number;
  /** Drops every connection and takes no new one, as a tunnel that went away; `false`: takes them again. */
  setDown(isDown: boolean): void;
  close(): Promise<void>;
}

/** Ends TLS (for `localhost` and `127.0.0.1`) and forwards the bytes to a port, as a tunnel's edge does. */
export async function startTlsEdge(targetPort: number): Promise<TlsEdge> {
  const sockets = new Set<Socket>();
  let isDown = false;
  const server = createServer({ cert: pem("cert"), key: pem("key") }, (incoming) => {
    if (isDown) {
      incoming.destroy();
      return;
    }
    const outgoing = connect(targetPort, "127.0.0.1");
    for (const socket of [incoming, outgoing]) {
      sockets.add(socket);
      socket.on("error", () => undefined);
      socket.on("close", () => {
        sockets.delete(socket);
        incoming.destroy();
        outgoing.destroy();
      });
    }
    incoming.pipe(outgoing);
    outgoing.pipe(incoming);
  });
  server.on("tlsClientError", () => undefined);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const drop = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    setDown(next) {
      isDown = next;
      if (isDown) drop();
    },
    async close() {
      const closed = once(server, "close");
      server.close();
      drop();
      await closed;
    },
  };
}
