import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { createPipes } from "./pipes.ts";

export interface Forwarder {
  readonly port: number;
  /** Every connection ends at once, with what is on its way; new ones are taken. */
  cut(): void;
  close(): Promise<void>;
}

/** A plain TCP forwarder, as `ssh -R`, `socat` and container ports are. */
export async function startForwarder(
  target: { readonly port: number; readonly host?: string } | { readonly path: string },
): Promise<Forwarder> {
  const pipes = createPipes();
  const server = createServer((incoming) => pipes.join(incoming, target));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    cut: () => pipes.drop("reset"),
    async close() {
      const closed = once(server, "close");
      server.close();
      pipes.drop();
      await closed;
    },
  };
}
