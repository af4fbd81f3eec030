import { chmod, unlink } from "node:fs/promises";
import { connect, createServer, type ListenOptions, type Server, type Socket } from "node:net";

export type AcceptSocket = (socket: Socket) => void;

/** One listening socket. Closing it leaves the connections that it accepted alone. */
export interface Listener {
  /** `127.0.0.1:7700`, `[::]:7700`, or the path of a Unix socket. */
  readonly text: string;
  readonly host: string;
  readonly port: number | null;
  close(): void;
}

const backlog = 1_024;
/** This machine has no such address, or no IPv6 at all. */
const noSuchAddress: ReadonlySet<string | undefined> = new Set([
  "EADDRNOTAVAIL",
  "EAFNOSUPPORT",
  "EINVAL",
  "ENOTFOUND",
]);

export function isMissingAddress(error: unknown): boolean {
  return error instanceof Error && noSuchAddress.has((error as NodeJS.ErrnoException).code);
}

/** Listens on an address. Rejects with the system's error (`EADDRINUSE`, `EACCES`, …). Port 0 picks a free one. */
export async function listenTcp(host: string, port: number, accept: AcceptSocket): Promise<Listener> {
  const server = await listen({ host, port, backlog, exclusive: true }, accept);
  const address = server.address();
  if (address === null || typeof address === "string") throw new TypeError("a TCP listener has no port");
  const shown = address.family === "IPv6" ? `[${address.address}]` : address.address;
  return { text: `${shown}:${address.port}`, host, port: address.port, close: () => server.close() };
}

/** For the user and the group of the socket, which a setgid folder gives it: a proxy may run as another user. */
const socketMode = 0o660;

/**
 * Listens on a Unix socket. What it lets in is remote whoever calls; other users than those of its group may not even
 * connect. A socket file that nobody listens on any more is replaced.
 */
export async function listenUnix(path: string, accept: AcceptSocket): Promise<Listener> {
  const options: ListenOptions = { path, backlog, exclusive: true };
  let server: Server;
  try {
    server = await listen(options, accept);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EADDRINUSE" || !(await isStale(path))) throw error;
    await unlink(path);
    server = await listen(options, accept);
  }
  try {
    await chmod(path, socketMode);
  } catch (error) {
    server.close();
    throw error;
  }
  return { text: path, host: path, port: null, close: () => server.close() };
}

function listen(options: ListenOptions, accept: AcceptSocket): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer({ allowHalfOpen: true, noDelay: true }, accept);
    server.once("error", reject);
    server.listen(options, () => {
      server.off("error", reject);
      // Running out of file descriptors must not end the daemon; the listener goes on when there are some again.
      server.on("error", () => server.listening);
      resolve(server);
    });
  });
}

function isStale(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = connect(path);
    probe.once("connect", () => {
      probe.destroy();
      resolve(false);
    });
    probe.once("error", (error: NodeJS.ErrnoException) => resolve(error.code === "ECONNREFUSED"));
  });
}
