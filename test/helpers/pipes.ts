import { connect, type Socket } from "node:net";

export interface Pipes {
  /** Copies bytes both ways between `incoming` and what listens at `target`; when one side ends, so does the other. */
  join(
    incoming: Socket,
    target: { readonly port: number; readonly host?: string } | { readonly path: string },
  ): void;
  /** Ends every connection. `reset`: with what is on its way. */
  drop(how?: "reset"): void;
}

/** What a plain forwarder does with its connections: it copies bytes and adds nothing. */
export function createPipes(): Pipes {
  const sockets = new Set<Socket>();
  return {
    join(incoming, target) {
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
    },
    drop(how) {
      for (const socket of sockets) {
        if (how === "reset") socket.resetAndDestroy();
        else socket.destroy();
      }
    },
  };
}
