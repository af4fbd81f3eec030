import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { ArrivalKind } from "../auth/check-framing.ts";
import type { AddressSource } from "../auth/client-address.ts";
import { type PublicAddress, parsePublicAddress } from "../auth/public-address.ts";
import { parsePeerAddress } from "../lib/ip-address.ts";
import { limits } from "../protocol/limits.ts";
import { TcpBinding } from "./doors-binding.ts";
import { Connection } from "./doors-connection.ts";
import type { Bind } from "./doors-hosts.ts";
import { createHttpServer, type HttpServer, type WatchedResponse } from "./doors-http.ts";
import { type Listener, listenUnix } from "./doors-listen.ts";
import { type TlsFiles, TlsFront } from "./doors-tls.ts";
import type { DoorFacts } from "./gate-pass.ts";
import { HalfOpenSockets } from "./half-open.ts";
import { parserRefusalBytes } from "./respond.ts";
import { sniffFirstByte } from "./sniff.ts";

export type DoorSpec =
  | {
      readonly kind: "main";
      readonly name: "main";
      readonly port: number;
      readonly binds: readonly Bind[];
      /** With it, peers that are not loopback must speak TLS; loopback peers may. */
      readonly tls: TlsFiles | null;
    }
  | {
      readonly kind: "forwarder";
      readonly name: string;
      readonly listen:
        | { readonly kind: "port"; readonly port: number }
        | { readonly kind: "socket"; readonly path: string };
      /** The public base; null until a tunnel has one. */
      readonly publicUrl: string | null;
      /** Where the provider names the client; `none` for a raw forwarder. */
      readonly addressSource: Exclude<AddressSource, "peer">;
    };

/** A request at a door. `response` is null where the HTTP server has let the socket go (an upgrade, CONNECT). */
export interface DoorArrival {
  readonly kind: ArrivalKind;
  readonly door: Door;
  readonly connection: Connection;
  readonly request: IncomingMessage;
  readonly response: WatchedResponse | null;
  /** What came behind the header of an upgrade already. */
  readonly head: Buffer;
}

export interface DoorOptions {
  readonly onArrival: (arrival: DoorArrival) => void;
  /** Monotonic. */
  readonly nowMs: () => number;
}

const sweepMs = 250;

/** One way in: its listeners, an HTTP server that never listens itself, and the connections of both. */
export class Door {
  readonly name: string;
  readonly kind: "main" | "forwarder";
  readonly connections = new Set<Connection>();
  readonly #options: DoorOptions;
  readonly #http: HttpServer;
  readonly #halfOpen = new HalfOpenSockets<Connection>({
    maxPerKey: limits.halfOpenPerAddress,
    maxBurstPerKey: limits.halfOpenBurstPerAddress,
    maxTotal: limits.halfOpenPerDoor,
    youngMs: limits.halfOpenYoungMs,
  });
  readonly #bySocket = new WeakMap<object, Connection>();
  readonly #tcp: TcpBinding | null;
  readonly #sweep: NodeJS.Timeout;
  readonly #addressSource: AddressSource;
  #unix: Listener | null = null;
  #tls: TlsFront<Connection> | null = null;
  #facts: DoorFacts;

  private constructor(spec: DoorSpec, options: DoorOptions) {
    this.name = spec.name;
    this.kind = spec.kind;
    this.#options = options;
    this.#addressSource = spec.kind === "main" ? "peer" : spec.addressSource;
    this.#facts = this.#factsFor(null);
    this.#http = createHttpServer({
      onRequest: (kind, request, response) => this.#onRequest(kind, request, response),
      onSocket: (kind, request, socket, head) => this.#onSocket(kind, request, socket, head),
      onParserRefusal: (socket, status) => this.#onParserRefusal(socket, status),
    });
    const port = spec.kind === "main" ? spec.port : spec.listen.kind === "port" ? spec.listen.port : null;
    this.#tcp = port === null ? null : new TcpBinding(port, (socket) => this.#accept(socket));
    this.#sweep = setInterval(() => this.closeOverdue(), sweepMs);
    this.#sweep.unref();
  }

  /** Opens a door. Rejects with the system's error when it cannot listen, TypeError for a bad certificate or address. */
  static async open(spec: DoorSpec, options: DoorOptions): Promise<Door> {
    const door = new Door(spec, options);
    try {
      if (spec.kind === "main") {
        door.setTls(spec.tls);
        await door.setBinds(spec.binds);
      } else {
        door.setPublicUrl(spec.publicUrl);
        await door.#listenForwarder(spec.listen);
      }
    } catch (error) {
      door.stopListening();
      clearInterval(door.#sweep);
      throw error;
    }
    return door;
  }

  get facts(): DoorFacts {
    return this.#facts;
  }

  /** The TCP port, or null for a Unix socket. */
  get port(): number | null {
    return this.#tcp?.port ?? null;
  }

  /** What it listens on: `127.0.0.1:7700`, `[::]:7700`, a path. */
  get bound(): readonly string[] {
    return this.#unix ? [this.#unix.text] : (this.#tcp?.texts ?? []);
  }

  /** Changes the addresses of the main door. Connections stay; see `Gateway.closeUnadmitted`. */
  async setBinds(binds: readonly Bind[]): Promise<void> {
    await this.#tcp?.set(binds);
  }

  /** Throws when the certificate or key cannot be used; what was set before stays. */
  setTls(tls: TlsFiles | null): void {
    this.#tls =
      tls === null ? null : new TlsFront(tls, (socket, connection) => this.#serveTls(socket, connection));
  }

  /** The public base of a forwarder's door, once it is known; null: it answers to nothing. Throws TypeError if malformed. */
  setPublicUrl(publicUrl: string | null): void {
    const address = publicUrl === null ? null : parsePublicAddress(publicUrl);
    if (publicUrl !== null && address === null)
      throw new TypeError("the public address of a door must be http(s)://host[:port][/path]");
    this.#facts = this.#factsFor(address);
  }

  stopListening(): void {
    this.#tcp?.close();
    this.#unix?.close();
    this.#unix = null;
  }

  /** Stops listening, closes idle connections at once and the others after `graceMs`. Resolves when all are gone. */
  async close(graceMs: number): Promise<void> {
    this.stopListening();
    const gone = [...this.connections].map(
      (connection) => new Promise<void>((resolve) => connection.socket.once("close", () => resolve())),
    );
    this.closeWhere(() => true, graceMs);
    await Promise.all(gone);
    clearInterval(this.#sweep);
  }

  /** Closes connections: idle ones at once, busy ones after `graceMs`. */
  closeWhere(matches: (connection: Connection) => boolean, graceMs: number): void {
    const busy: Connection[] = [];
    for (const connection of this.connections) {
      if (!matches(connection)) continue;
      if (connection.busy && graceMs > 0) busy.push(connection);
      else connection.destroy();
    }
    if (busy.length > 0)
      setTimeout(() => {
        for (const connection of busy) connection.destroy();
      }, graceMs);
  }

  /** Closes what has had its time. Runs by itself four times a second. */
  closeOverdue(): void {
    const nowMs = this.#options.nowMs();
    for (const connection of this.#halfOpen.trim(nowMs)) connection.destroy();
    for (const connection of this.connections) if (connection.overdue(nowMs)) connection.destroy();
  }

  async #listenForwarder(listen: Extract<DoorSpec, { kind: "forwarder" }>["listen"]): Promise<void> {
    if (listen.kind === "port") await this.setBinds([{ host: "127.0.0.1", whenMissing: "fail" }]);
    else this.#unix = await listenUnix(listen.path, (socket) => this.#accept(socket));
  }

  #factsFor(publicAddress: PublicAddress | null): DoorFacts {
    return { name: this.name, kind: this.kind, publicAddress, addressSource: this.#addressSource };
  }

  #accept(socket: Socket): void {
    socket.on("error", () => socket.destroy());
    const peer = parsePeerAddress(socket.remoteAddress);
    // Whoever is gone already has no address. He must not pass for a peer without one.
    if (this.#tcp !== null && peer === null) {
      socket.destroy();
      return;
    }
    const connection = new Connection({
      socket,
      peer,
      limitPerAddress: this.#addressSource === "peer",
      halfOpen: this.#halfOpen,
      nowMs: this.#options.nowMs,
    });
    this.connections.add(connection);
    this.#bySocket.set(socket, connection);
    socket.once("close", () => {
      this.connections.delete(connection);
      connection.closed();
    });
    const tls = this.#tls;
    if (tls === null) this.#http.emit("connection", socket);
    else sniffFirstByte(socket, (isTls) => this.#acceptSniffed(tls, connection, socket, isTls));
  }

  #acceptSniffed(tls: TlsFront<Connection>, connection: Connection, socket: Socket, isTls: boolean): void {
    if (isTls) tls.accept(socket, connection);
    else if (connection.peerFacts.loopback) {
      this.#http.emit("connection", socket);
      socket.resume();
    } else connection.endWith(parserRefusalBytes(400), true);
  }

  #serveTls(socket: Socket, connection: Connection): void {
    socket.on("error", () => socket.destroy());
    connection.secured(socket);
    this.#bySocket.set(socket, connection);
    this.#http.emit("connection", socket);
  }

  #onRequest(kind: ArrivalKind, request: IncomingMessage, response: WatchedResponse): void {
    const connection = this.#bySocket.get(request.socket);
    // Behind a closing answer nothing is served: the client cannot know where its next request begins.
    if (connection === undefined || connection.phase !== "open") return;
    this.#options.onArrival({ kind, door: this, connection, request, response, head: noHead });
  }

  #onSocket(kind: "upgrade" | "connect", request: IncomingMessage, socket: Duplex, head: Buffer): void {
    // The HTTP server has taken its own listener away.
    socket.on("error", () => socket.destroy());
    const connection = this.#bySocket.get(socket);
    // An answer is still due to an earlier, pipelined request: two writers would mix their bytes.
    if (connection === undefined || connection.phase !== "open" || connection.busy) socket.destroy();
    else this.#options.onArrival({ kind, door: this, connection, request, response: null, head });
  }

  #onParserRefusal(socket: Duplex, status: 400 | 431): void {
    const connection = this.#bySocket.get(socket);
    if (connection === undefined || connection.answering) socket.destroy();
    else if (connection.phase === "open") connection.endWith(parserRefusalBytes(status), true);
  }
}

const noHead = Buffer.alloc(0);
