import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { announcesBody } from "../auth/check-framing.ts";
import { exposureAdmits } from "../auth/exposure.ts";
import { hostNames } from "../auth/host-name.ts";
import type { RequestClass, VerifyCredential } from "../auth/principal.ts";
import { readHeaders } from "../auth/read-headers.ts";
import { createThrottle } from "../auth/throttle.ts";
import { trustedProxies } from "../auth/trusted-proxies.ts";
import { type ErrorCode, type Refusal, SallyportError } from "../errors.ts";
import { limits } from "../protocol/limits.ts";
import type { Access } from "../protocol/objects.ts";
import { admit } from "./admission.ts";
import { isSecureContext } from "./checks/origin.ts";
import { Door, type DoorArrival, type DoorSpec } from "./doors.ts";
import { runGate } from "./gate.ts";
import { found, type GatePass, type GatePolicy, type GateWorld, startPass } from "./gate-pass.ts";
import { compileRoutes, type GateRoute } from "./gate-routes.ts";
import { refusalBytes, sendRefusal } from "./respond.ts";

/** The gate's settings as the configuration has them. */
export interface GateSettings {
  /** `hosts`: further names that remote callers may use. */
  readonly hosts: readonly string[];
  /** This machine's own names. */
  readonly machineNames: readonly string[];
  readonly origins: readonly string[];
  readonly trustedProxies: readonly string[];
}

/** What is known of a refused request. Holds no secret, and of the target only which route it is. */
export interface RefusalEvent {
  readonly code: ErrorCode;
  /** The step of the table that refused. */
  readonly step: string;
  readonly door: string;
  readonly requestClass: RequestClass | null;
  readonly clientAddress: string | null;
  /** `GET /api/devices/:id`, `static`, `unknown`, or null before the route was looked at. */
  readonly route: string | null;
}

export interface GatewayOptions {
  readonly routes: readonly GateRoute[];
  /** True for a path that the page is made of. Never asked about `/api` and `/mew`. */
  readonly isStaticPath: (path: string) => boolean;
  readonly verifyCredential: VerifyCredential;
  readonly access: () => Access;
  readonly settings: GateSettings;
  /** What has passed the table. `request.url` has the base path and credentials taken out. */
  readonly handleRequest: (request: IncomingMessage, response: ServerResponse) => void;
  readonly handleUpgrade: (request: IncomingMessage, socket: Socket, head: Buffer) => void;
  /** Monotonic milliseconds. */
  readonly nowMs: () => number;
  /** Must not throw and must be cheap: whoever refuses a flood calls it for each request. */
  readonly onRefusal?: (event: RefusalEvent) => void;
  /** A fault of ours. The client got 503 `internal`. */
  readonly onFault?: (error: unknown) => void;
}

export interface ConnectionInfo {
  readonly door: string;
  readonly requestClass: RequestClass;
  readonly upgraded: boolean;
}

export interface Gateway {
  /** Opens a way in. Rejects with the system's error when it cannot listen, TypeError when the name is taken. */
  openDoor(spec: DoorSpec): Promise<Door>;
  closeDoor(door: Door, graceMs: number): Promise<void>;
  doors(): readonly Door[];
  connections(): readonly ConnectionInfo[];
  setSettings(settings: GateSettings): void;
  /**
   * Closes what the exposure no longer lets in, after it changed: idle connections at once, sockets and answers on their
   * way after `graceMs`, so that close frames and the answer itself still leave.
   */
  closeUnadmitted(graceMs: number): void;
  close(graceMs: number): Promise<void>;
}

const internalFault: Refusal = {
  code: "internal",
  message: "Something went wrong in the daemon; its log says what.",
};

/** Puts the table in front of the handlers. Throws TypeError for a route without a policy. */
export function createGateway(options: GatewayOptions): Gateway {
  let policy = compilePolicy(options.settings);
  const world: GateWorld = {
    routes: compileRoutes(options.routes, options.isStaticPath),
    verifyCredential: options.verifyCredential,
    access: options.access,
    policy: () => policy,
    throttle: createThrottle(),
  };
  const doors = new Map<string, Door>();

  function onArrival(arrival: DoorArrival): void {
    const { kind, door, connection, request, response } = arrival;
    const headers = readHeaders(request.rawHeaders);
    const pass = startPass({
      kind,
      door: door.facts,
      peer: connection.peerFacts,
      method: request.method ?? "",
      rawTarget: request.url ?? "",
      httpVersion: request.httpVersion,
      headers,
      nowMs: options.nowMs(),
    });
    if (response) connection.begin(request, response, announcesBody(headers));
    try {
      const verdict = runGate(pass, world);
      if (verdict instanceof Promise)
        verdict
          .then((refusal) => settle(arrival, pass, refusal))
          .catch((error: unknown) => settle(arrival, pass, refusalOf(error)));
      else settle(arrival, pass, verdict);
    } catch (error) {
      settle(arrival, pass, refusalOf(error));
    }
  }

  function settle(arrival: DoorArrival, pass: GatePass, refusal: Refusal | null): void {
    const { connection } = arrival;
    if (pass.requestClass === "remote") connection.remote = true;
    // The client went away, or was closed, while its credential was verified.
    if (connection.socket.destroyed || connection.phase !== "open") return;
    if (refusal !== null) {
      refuse(arrival, pass, refusal);
      return;
    }
    if (pass.lease !== null) connection.authenticated();
    admit(arrival.request, {
      requestClass: found(pass.requestClass),
      door: arrival.door.name,
      clientAddress: pass.clientAddress,
      lease: pass.lease,
      isSecure: isSecureContext(pass),
    });
    const { routedPath } = found(pass.target);
    arrival.request.url = pass.handlerQuery === "" ? routedPath : `${routedPath}?${pass.handlerQuery}`;
    try {
      handOver(arrival);
    } catch (error) {
      options.onFault?.(error);
      connection.destroy();
    }
  }

  function handOver(arrival: DoorArrival): void {
    const { connection, request, response } = arrival;
    if (response === null) {
      connection.upgraded();
      options.handleUpgrade(request, connection.socket, arrival.head);
      return;
    }
    if (arrival.kind === "continue") response.writeContinue();
    options.handleRequest(request, response);
  }

  function refuse(arrival: DoorArrival, pass: GatePass, refusal: Refusal): void {
    const { connection, response, head } = arrival;
    options.onRefusal?.({
      code: refusal.code,
      step: pass.refusedBy ?? "fault",
      door: arrival.door.name,
      requestClass: pass.requestClass,
      clientAddress: pass.clientAddress,
      route: pass.route?.label ?? null,
    });
    const hasBody = announcesBody(pass.arrival.headers);
    if (response === null) {
      connection.endWith(refusalBytes(refusal), hasBody || head.length > 0);
      return;
    }
    // A malformed request may have been framed by others in another way than by us; a body was not read.
    const close = hasBody || pass.refusedBy === "limits" || pass.refusedBy === "host syntax";
    if (close) connection.closeAfterAnswer();
    sendRefusal(response, refusal, close);
  }

  function refusalOf(error: unknown): Refusal {
    if (error instanceof SallyportError) return refusalFrom(error);
    options.onFault?.(error);
    return internalFault;
  }

  return {
    async openDoor(spec) {
      if (doors.has(spec.name)) throw new TypeError(`a door named ${spec.name} is open already`);
      const door = await Door.open(spec, { onArrival, nowMs: options.nowMs });
      doors.set(spec.name, door);
      return door;
    },
    async closeDoor(door, graceMs) {
      if (doors.get(door.name) === door) doors.delete(door.name);
      await door.close(graceMs);
    },
    doors: () => [...doors.values()],
    connections: () =>
      [...doors.values()].flatMap((door) =>
        [...door.connections].map((connection) => ({
          door: door.name,
          requestClass: isRemote(door, connection) ? ("remote" as const) : ("local" as const),
          upgraded: connection.phase === "upgraded",
        })),
      ),
    setSettings(settings) {
      policy = compilePolicy(settings);
    },
    closeUnadmitted(graceMs) {
      for (const door of doors.values())
        if (!exposureAdmits(options.access(), door.kind))
          door.closeWhere((connection) => isRemote(door, connection), graceMs);
    },
    async close(graceMs) {
      const all = [...doors.values()];
      doors.clear();
      await Promise.all(all.map((door) => door.close(graceMs)));
    },
  };
}

/** A connection that has not said anything yet is what its peer is. */
function isRemote(door: Door, connection: DoorArrival["connection"]): boolean {
  return door.kind === "forwarder" || connection.remote || !connection.peerFacts.loopback;
}

function compilePolicy(settings: GateSettings): GatePolicy {
  return {
    hostNames: hostNames([...settings.machineNames, ...settings.hosts]),
    origins: new Set(settings.origins),
    isTrustedProxy: trustedProxies(settings.trustedProxies),
  };
}

function refusalFrom(error: SallyportError): Refusal {
  return {
    code: error.code,
    message: error.message,
    ...(error.retryAfterSeconds === undefined ? {} : { retryAfterSeconds: error.retryAfterSeconds }),
  };
}

/** How long busy connections may live on when the gateway closes or the exposure shrinks. */
export const closeGraceMs = limits.revokeGraceMs;
