import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdir, readFile } from "node:fs/promises";
import { type AddressInfo, connect } from "node:net";
import { join } from "node:path";
import { createServer, type TLSSocket } from "node:tls";
import { promisify } from "node:util";

export interface TlsFront {
  readonly port: number;
  /** Path of the certificate to trust. */
  readonly certificate: string;
  close(): Promise<void>;
}

/**
 * The far end of a tunnel's service: ends TLS for the names and hands on to the port that stands in the file at this moment,
 * as a tool wrote it there. Without one it hangs up.
 */
export async function startTlsFront(
  folder: string,
  names: readonly string[],
  portFile: string,
): Promise<TlsFront> {
  await mkdir(folder, { recursive: true });
  const [cert, key] = [join(folder, "cert.pem"), join(folder, "key.pem")];
  await promisify(execFile)("openssl", [
    ...["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"],
    ...["-subj", "/CN=tunnel", "-addext", `subjectAltName=${names.map((each) => `DNS:${each}`).join(",")}`],
    ...["-keyout", key, "-out", cert],
  ]);
  const sockets = new Set<TLSSocket>();
  const server = createServer({ cert: await readFile(cert), key: await readFile(key) }, async (incoming) => {
    sockets.add(incoming);
    incoming.on("error", () => undefined);
    incoming.on("close", () => sockets.delete(incoming));
    const port = Number(await readFile(portFile, "utf8").catch(() => ""));
    if (!port) return void incoming.destroy();
    const outgoing = connect(port, "127.0.0.1");
    outgoing.on("error", () => incoming.destroy());
    outgoing.on("close", () => incoming.destroy());
    incoming.on("close", () => outgoing.destroy());
    incoming.pipe(outgoing);
    outgoing.pipe(incoming);
  });
  server.on("tlsClientError", () => undefined);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    certificate: cert,
    async close() {
      const closed = once(server, "close");
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
