import { readFile } from "node:fs/promises";
import type { Config } from "../config/config.ts";
import { SallyportError } from "../errors.ts";
import type { Door } from "../gateway/doors.ts";
import { mainDoorBinds } from "../gateway/doors-hosts.ts";
import type { TlsFiles } from "../gateway/doors-tls.ts";
import type { Gateway } from "../gateway/gate-server.ts";
import type { NetworkSide } from "./exposure.ts";
import { whoAnswers } from "./probe-port.ts";
import { StartupError } from "./startup-error.ts";

const answerTimeoutMs = 2_000;

/**
 * Opens the loopback side of the main door.
 *
 * @throws StartupError: `port_ours` when what is there knows our token, `port_taken` for anybody else. The other one is
 *   sent a challenge, never a token.
 */
export async function openMainDoor(
  gateway: Pick<Gateway, "openDoor">,
  port: number,
  masterToken: string,
): Promise<Door> {
  try {
    return await gateway.openDoor({
      kind: "main",
      name: "main",
      port,
      binds: mainDoorBinds("off", null),
      tls: null,
    });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EACCES")
      throw new StartupError(
        "port_taken",
        `Port ${port} may not be used by this user. Choose one above 1023: --port ${port + 7_000}`,
        { cause: error },
      );
    if (code !== "EADDRINUSE") throw error;
    if ((await whoAnswers(port, masterToken, answerTimeoutMs)) === "ours")
      throw new StartupError(
        "port_ours",
        `Port ${port} is taken by a daemon of ours that has the same token, but another home. Stop it, or choose another port: --port ${otherPort(port)}`,
        { url: `http://127.0.0.1:${port}`, cause: error },
      );
    throw new StartupError(
      "port_taken",
      `Port ${port} is taken by another program. Choose another: --port ${otherPort(port)}, or port = ${otherPort(port)} in config.toml`,
      { cause: error },
    );
  }
}

function otherPort(port: number): number {
  return port < 65_535 ? port + 1 : port - 1;
}

export interface NetworkOptions {
  readonly door: Pick<Door, "setTls" | "setBinds" | "port">;
  readonly host: string | null;
  readonly tls: Config["tls"];
}

/** The network side of the main door: with a certificate where one is configured, and never without it then. */
export function networkSide({ door, host, tls }: NetworkOptions): NetworkSide {
  return {
    async open() {
      const files = tls === null ? null : await readTls(tls);
      try {
        door.setTls(files);
      } catch (error) {
        throw refusal(
          `the certificate ${tls?.certPath} and key ${tls?.keyPath} cannot be used (${reasonOf(error)}). Mend them, or [tls] in config.toml`,
          error,
        );
      }
      try {
        await door.setBinds(mainDoorBinds("on", host));
      } catch (error) {
        door.setTls(null);
        throw bindRefusal(host, door.port ?? 0, error);
      }
    },
    async close() {
      await door.setBinds(mainDoorBinds("off", null));
      door.setTls(null);
    },
  };
}

async function readTls(tls: NonNullable<Config["tls"]>): Promise<TlsFiles> {
  const read = (path: string) =>
    readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
      throw refusal(`${path} cannot be read (${error.code}). Mend it, or [tls] in config.toml`, error);
    });
  return { cert: await read(tls.certPath), keySecret: await read(tls.keyPath) };
}

function bindRefusal(host: string | null, port: number, error: unknown): SallyportError {
  const { code } = error as NodeJS.ErrnoException;
  if (code === "EADDRINUSE")
    return new SallyportError(
      "conflict",
      `Remote access stays off: port ${port} is taken by another program on ${host ?? "an interface of this machine"}. End it, or restart on another: sallyport daemon restart --port N`,
      { reason: "in_use", cause: error },
    );
  return refusal(
    `${host ?? "the network"} cannot be listened on (${reasonOf(error)}). Name an address of this machine: --host, or host in config.toml`,
    error,
  );
}

function refusal(what: string, cause: unknown): SallyportError {
  return new SallyportError("not_supported", `Remote access stays off: ${what}, then: sallyport remote on`, {
    cause,
  });
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return (error as NodeJS.ErrnoException).code ?? error.message;
}
