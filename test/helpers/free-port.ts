import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";

const given = new Set<number>();

/**
 * A port that nobody listens at, for a program that cannot be told 0 or must come back where it was. Whoever asks a system for
 * any port is given one from 32,768 on (Linux) or 49,152 on (RFC 6335), and a door of ours for a tunnel one from 20,000 on: so
 * nobody is given this one by chance, neither before it is used nor between two uses, when others still dial it.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(10_000, 20_000);
    if (given.has(port)) continue;
    given.add(port);
    const server = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      server.once("listening", () => resolve(true));
      server.once("error", () => resolve(false));
      server.listen(port, "127.0.0.1");
    });
    if (!isFree) continue;
    server.close();
    await once(server, "close");
    return port;
  }
}
