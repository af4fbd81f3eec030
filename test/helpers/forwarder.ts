import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export interface Forwarder {
  readonly port: number;
  close(): Promise<void>;
}

/** A plain TCP forwarder, as `ssh -R`, `socat` and container ports are: it copies bytes and adds nothing. */
export async function startForwarder(
  target: { readonly port: number; readonly host?: string } | { readonly path: string },
): Promise<Forwarder> {
  const sockets = new Set<Socket>();
  const server = createServer((incoming) => {
    const outgoing =
      "path" in target ? connect(target.path) : connect(target.port, target.host ?? "127.0.0.1");
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
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      const closed = once(server, "close");
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
