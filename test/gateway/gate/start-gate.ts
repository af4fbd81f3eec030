import type { IncomingMessage, ServerResponse } from "node:http";
import type { Lease, VerifyCredential } from "../../../src/auth/principal.ts";
import { admissionOf } from "../../../src/gateway/admission.ts";
import type { Door } from "../../../src/gateway/doors.ts";
import { mainDoorBinds } from "../../../src/gateway/doors-hosts.ts";
import type { TlsFiles } from "../../../src/gateway/doors-tls.ts";
import {
  createGateway,
  type Gateway,
  type GatewayOptions,
  type RefusalEvent,
} from "../../../src/gateway/gate-server.ts";
import type { Access } from "../../../src/protocol/objects.ts";
import type { Scope } from "../../../src/protocol/scopes.ts";

export const masterToken = "spm_master-of-this-test-0123456789abcdef";
export const deviceToken = "spd_device-of-this-test-0123456789abcdef";
export const viewerToken = "spd_viewer-of-this-test-0123456789abcdef";
/** Verified by a promise, as on a token's first use. */
export const slowToken = "spd_slow-of-this-test-0123456789abcdef";
export const ticket = "spt_ticket-of-this-test";

export function lease(kind: "master" | "device", scopes: readonly Scope[]): Lease {
  return {
    principal: kind === "master" ? { kind } : { kind, device: "01a17453-0000-7000-8000-000000000001" },
    name: kind,
    scopes: new Set(scopes),
    expiresAtMs: null,
    localOnly: false,
    ended: null,
    onEnd: () => () => undefined,
  };
}

const everything: readonly Scope[] = ["view", "drive", "approve", "admin"];

const verify: VerifyCredential = (raw, requestClass) => {
  if (raw.kind === "ticket")
    return raw.rawTicket === ticket && raw.purpose === "socket" ? lease("device", everything) : null;
  if (raw.rawToken === masterToken) return requestClass === "local" ? lease("master", everything) : null;
  if (raw.rawToken === deviceToken) return lease("device", everything);
  if (raw.rawToken === viewerToken) return lease("device", ["view"]);
  if (raw.rawToken === slowToken) return Promise.resolve(lease("device", everything));
  return null;
};

export interface TestGate {
  readonly gateway: Gateway;
  readonly main: Door;
  readonly port: number;
  /** What reached a handler: `METHOD url class`. */
  readonly handled: string[];
  readonly refusals: RefusalEvent[];
  readonly faults: unknown[];
  setAccess(access: Access): void;
  openForwarder(
    publicUrl: string | null,
    source?: "none" | "cf-connecting-ip" | "last-x-forwarded-for",
  ): Promise<Door>;
  close(): Promise<void>;
}

export interface TestGateOptions extends Partial<GatewayOptions> {
  readonly initialAccess?: Access;
  readonly tls?: TlsFiles;
}

/** A gate in front of a handler that answers `{"handled":…}` and sockets that say 101 and echo. */
export async function startGate(options: TestGateOptions = {}): Promise<TestGate> {
  const { initialAccess, tls, ...overrides } = options;
  let access: Access = initialAccess ?? "off";
  const handled: string[] = [];
  const refusals: RefusalEvent[] = [];
  const faults: unknown[] = [];
  const note = (request: IncomingMessage): void => {
    handled.push(`${request.method} ${request.url} ${admissionOf(request).requestClass}`);
  };
  const gateway = createGateway({
    routes: [
      { method: "GET", path: "/api/hello", scope: { needs: "public" } },
      { method: "POST", path: "/api/pair", scope: { needs: "public" } },
      { method: "GET", path: "/api/daemon", scope: { needs: ["view"] } },
      { method: "POST", path: "/api/command", scope: { needs: [] } },
      { method: "POST", path: "/api/daemon/stop", scope: { needs: ["admin"] } },
      { method: "DELETE", path: "/api/devices/:id", scope: { needs: [] } },
      { method: "SOCKET", path: "/api/ws", scope: { needs: ["view"] } },
    ],
    isStaticPath: (path) => path === "/" || path === "/app.js",
    verifyCredential: verify,
    access: () => access,
    settings: {
      hosts: ["box.example"],
      machineNames: ["devbox"],
      origins: ["https://ide.example"],
      trustedProxies: [],
    },
    handleRequest: (request: IncomingMessage, response: ServerResponse) => {
      note(request);
      request.resume();
      request.once("end", () => response.end(JSON.stringify({ handled: request.url })));
    },
    handleUpgrade: (request, socket) => {
      note(request);
      socket.write("HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n");
      socket.on("data", (chunk) => socket.write(chunk));
      socket.on("end", () => socket.end());
    },
    nowMs: () => performance.now(),
    onRefusal: (event) => refusals.push(event),
    onFault: (error) => faults.push(error),
    ...overrides,
  });
  const main = await gateway.openDoor({
    kind: "main",
    name: "main",
    port: 0,
    binds: mainDoorBinds(access, null),
    tls: tls ?? null,
  });
  let doorCount = 0;
  return {
    gateway,
    main,
    port: main.port ?? 0,
    handled,
    refusals,
    faults,
    setAccess(next) {
      access = next;
    },
    openForwarder(publicUrl, source = "none") {
      doorCount += 1;
      return gateway.openDoor({
        kind: "forwarder",
        name: `door-${doorCount}`,
        listen: { kind: "port", port: 0 },
        publicUrl,
        addressSource: source,
      });
    },
    close: () => gateway.close(0),
  };
}
