import type { ArrivalKind } from "../auth/check-framing.ts";
import type { AddressSource } from "../auth/client-address.ts";
import type { Authority } from "../auth/parse-authority.ts";
import type { Target } from "../auth/parse-target.ts";
import type { Lease, RequestClass, VerifyCredential } from "../auth/principal.ts";
import type { PublicAddress } from "../auth/public-address.ts";
import type { HeaderFacts } from "../auth/read-headers.ts";
import type { DoorKind } from "../auth/request-class.ts";
import type { Throttle } from "../auth/throttle.ts";
import type { IsTrustedProxy } from "../auth/trusted-proxies.ts";
import type { Refusal } from "../errors.ts";
import type { IpAddress } from "../lib/ip-address.ts";
import type { Access } from "../protocol/objects.ts";
import type { RouteMatch, RouteTable } from "./gate-routes.ts";

/** What the rules know of the door that a request came in by. */
export interface DoorFacts {
  readonly name: string;
  readonly kind: DoorKind;
  /** Null on the main door, and while a tunnel has no address yet. */
  readonly publicAddress: PublicAddress | null;
  readonly addressSource: AddressSource;
}

/** What the rules know of the connection. */
export interface PeerFacts {
  /** Null for a Unix socket. */
  readonly address: IpAddress | null;
  /** What limits on the peer are counted under. */
  readonly limitKey: string | null;
  readonly loopback: boolean;
  /** TLS ends at us. */
  readonly secure: boolean;
}

/** A request as it arrived, read but not judged. */
export interface Arrival {
  readonly kind: ArrivalKind;
  readonly door: DoorFacts;
  readonly peer: PeerFacts;
  readonly method: string;
  readonly rawTarget: string;
  readonly httpVersion: string;
  readonly headers: HeaderFacts;
  readonly nowMs: number;
}

/** An arrival on its way through the table: each step adds what it found out, and later steps rely on it. */
export interface GatePass {
  readonly arrival: Arrival;
  target: Target | null;
  host: Authority | null;
  requestClass: RequestClass | null;
  route: RouteMatch | null;
  /** The query as the handler sees it: without credentials. */
  handlerQuery: string;
  clientAddress: string | null;
  lease: Lease | null;
  /** Why there is no lease on a route that needs one. */
  failure: "nothing_presented" | "not_accepted" | null;
  /** The step that refused. */
  refusedBy: string | null;
}

/** The gate's settings, ready for comparing. */
export interface GatePolicy {
  /** Names that the main door answers to, beside IP literals. */
  readonly hostNames: ReadonlySet<string>;
  readonly origins: ReadonlySet<string>;
  readonly isTrustedProxy: IsTrustedProxy;
}

/** What the steps may ask for beside the request itself. */
export interface GateWorld {
  readonly routes: RouteTable;
  readonly verifyCredential: VerifyCredential;
  readonly access: () => Access;
  readonly policy: () => GatePolicy;
  readonly throttle: Throttle;
}

/** One row of the table. Null: go on. */
export interface GateStep {
  readonly name: string;
  readonly check: (pass: GatePass, world: GateWorld) => Refusal | null | Promise<Refusal | null>;
}

export function startPass(arrival: Arrival): GatePass {
  return {
    arrival,
    target: null,
    host: null,
    requestClass: null,
    route: null,
    handlerQuery: "",
    clientAddress: null,
    lease: null,
    failure: null,
    refusedBy: null,
  };
}

/** What an earlier step must have found. A null here is a table in the wrong order. */
export function found<T>(value: T | null): T {
  if (value === null) throw new TypeError("a step of the gate ran before the one it relies on");
  return value;
}
