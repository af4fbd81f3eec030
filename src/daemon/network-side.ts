import { readFile } from "node:fs/promises";
import { createSecureContext } from "node:tls";
import type { Config } from "../config/config.ts";
import { SallyportError } from "../errors.ts";
import type { Door } from "../gateway/doors.ts";
import { mainDoorBinds } from "../gateway/doors-hosts.ts";
import type { TlsFiles } from "../gateway/doors-tls.ts";
import type { NetworkSide } from "./exposure.ts";
import type { PreparedChange } from "./reload/reload-config.ts";

export interface NetworkSettings {
  /** Null: all interfaces. */
  readonly host: string | null;
  readonly tls: Config["tls"];
}

export interface NetworkOptions {
  readonly door: Pick<Door, "setTls" | "setBinds" | "port" | "closeWhere">;
  readonly settings: NetworkSettings;
  readonly closeGraceMs: number;
}

export interface ChangeableNetworkSide extends NetworkSide {
  /** True when a certificate is configured: the network then must speak TLS. */
  readonly hasTls: boolean;
  /** Checks other settings and, while it is open, listens where they say. Rejects with a text for the user. */
  prepare(next: NetworkSettings): Promise<PreparedChange>;
}

/** The network side of the main door: with a certificate where one is configured, and never without it then. */
export function createNetworkSide(options: NetworkOptions): ChangeableNetworkSide {
  const { door, closeGraceMs } = options;
  let settings = options.settings;
  let isOpen = false;

  return {
    get hasTls() {
      return settings.tls !== null;
    },
    async open() {
      try {
        door.setTls(await usableTls(settings.tls));
      } catch (error) {
        throw refusal(error instanceof Error ? error.message : String(error), error);
      }
      try {
        await door.setBinds(mainDoorBinds("on", settings.host));
      } catch (error) {
        door.setTls(null);
        throw bindRefusal(settings.host, door.port ?? 0, error);
      }
      isOpen = true;
    },
    async close() {
      isOpen = false;
      await door.setBinds(mainDoorBinds("off", null));
      door.setTls(null);
    },
    async prepare(next) {
      const before = settings;
      const isSame = JSON.stringify(next.tls) === JSON.stringify(before.tls);
      // A closed side with the certificate of before may wait until it is opened, as it does after a start.
      const files = isOpen || !isSame ? await usableTls(next.tls) : null;
      const moves = isOpen && next.host !== before.host;
      if (moves) await move(next.host);
      return {
        commit() {
          settings = next;
          if (!isOpen) return;
          door.setTls(files);
          if (files !== null && before.tls === null)
            door.closeWhere(({ peerFacts }) => !peerFacts.loopback, closeGraceMs);
        },
        async abandon() {
          if (moves) await door.setBinds(mainDoorBinds("on", before.host));
        },
      };
    },
  };

  async function move(host: string | null): Promise<void> {
    try {
      await door.setBinds(mainDoorBinds("on", host));
    } catch (error) {
      throw new Error(`${cannotListen(host, door.port ?? 0, error)}.`, { cause: error });
    }
  }
}

/** Reads the files and makes sure that they belong together. Throws a text for the user. */
async function usableTls(tls: Config["tls"]): Promise<TlsFiles | null> {
  if (tls === null) return null;
  const read = (path: string): Promise<string> =>
    readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
      throw new Error(`${path} cannot be read (${error.code}). Mend it, or [tls] in config.toml`, {
        cause: error,
      });
    });
  const cert = await read(tls.certPath);
  const keySecret = await read(tls.keyPath);
  try {
    createSecureContext({ cert, key: keySecret });
  } catch (error) {
    throw new Error(
      `the certificate ${tls.certPath} and key ${tls.keyPath} cannot be used (${reasonOf(error)}). Mend them, or [tls] in config.toml`,
      { cause: error },
    );
  }
  return { cert, keySecret };
}

function cannotListen(host: string | null, port: number, error: unknown): string {
  if ((error as NodeJS.ErrnoException).code === "EADDRINUSE")
    return `port ${port} is taken by another program on ${host ?? "an interface of this machine"}`;
  return `${host ?? "the network"} cannot be listened on (${reasonOf(error)}). Name an address of this machine: --host, or host in config.toml`;
}

function bindRefusal(host: string | null, port: number, error: unknown): SallyportError {
  const why = cannotListen(host, port, error);
  if ((error as NodeJS.ErrnoException).code !== "EADDRINUSE") return refusal(why, error);
  return new SallyportError(
    "conflict",
    `Remote access stays off: ${why}. End it, or restart on another: sallyport daemon restart --port N`,
    { reason: "in_use", cause: error },
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
