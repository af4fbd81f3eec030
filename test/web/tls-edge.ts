import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { createServer } from "node:tls";
import { fileURLToPath } from "node:url";
import { createPipes } from "../helpers/pipes.ts";

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
  const pipes = createPipes();
  let isDown = false;
  const server = createServer({ cert: pem("cert"), key: pem("key") }, (incoming) => {
    if (isDown) incoming.destroy();
    else pipes.join(incoming, { port: targetPort });
  });
  server.on("tlsClientError", () => undefined);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    setDown(next) {
      isDown = next;
      if (isDown) pipes.drop();
    },
    async close() {
      const closed = once(server, "close");
      server.close();
      pipes.drop();
      await closed;
    },
  };
}
