import type { Static, TSchema } from "typebox";
import type { ScopeRow } from "../auth/scope-table.ts";
import type { Admission } from "./admission.ts";

export type Method = "GET" | "POST" | "PATCH" | "DELETE";

/** What a handler is given: everything is parsed and valid by the route's schemas. */
export interface RouteContext<Query, Body> {
  readonly admission: Admission;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Query;
  readonly body: Body;
}

export interface RouteAnswer {
  /** Default 200. */
  readonly status?: number;
  /** Sent as JSON; absent for 204. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Runs when the answer has left, e.g. to close the caller's own sockets. */
  readonly afterSent?: () => void;
}

/** A REST route as data: its row of the scope table stands beside its handler. */
export interface Route {
  readonly method: Method;
  /** Segments, `:name` for a parameter: `/api/devices/:id`. */
  readonly path: string;
  readonly scope: ScopeRow;
  readonly query: TSchema | null;
  readonly body: TSchema | null;
  readonly maxBodyBytes: number;
  /** For the description of the interface; null: the answer has no body. */
  readonly response: TSchema | null;
  /** Status of the answer when all is well. */
  readonly responseStatus: number;
  readonly summary: string;
  /** What a body may hold beyond what is checked before the handler; null: `body` says it all. */
  readonly bodyDetails: TSchema | null;
  /** True for lists that clients ask for again: answered with 304 when nothing has changed. */
  readonly etag: boolean;
  readonly handle: (context: RouteContext<unknown, unknown>) => Promise<RouteAnswer> | RouteAnswer;
}

interface RouteOptions<Q extends TSchema, B extends TSchema> {
  readonly method: Method;
  readonly path: string;
  readonly scope: ScopeRow;
  readonly query?: Q;
  readonly body?: B;
  /** Default: `limits.bodyBytes` (64 KiB). */
  readonly maxBodyBytes?: number;
  readonly response?: TSchema;
  /** Default: 200, or 204 without a `response`. */
  readonly responseStatus?: number;
  readonly summary?: string;
  readonly bodyDetails?: TSchema;
  /** Default: false. */
  readonly etag?: boolean;
  readonly handle: (context: RouteContext<Static<Q>, Static<B>>) => Promise<RouteAnswer> | RouteAnswer;
}

/** Declares a route; the handler's `query` and `body` have the types of the schemas. */
export function route<Q extends TSchema, B extends TSchema>(options: RouteOptions<Q, B>): Route {
  return {
    method: options.method,
    path: options.path,
    scope: options.scope,
    query: options.query ?? null,
    body: options.body ?? null,
    maxBodyBytes: options.maxBodyBytes ?? 64 * 1024,
    response: options.response ?? null,
    responseStatus: options.responseStatus ?? (options.response ? 200 : 204),
    summary: options.summary ?? "",
    bodyDetails: options.bodyDetails ?? null,
    etag: options.etag ?? false,
    // The server calls a handler only with what its schemas accepted.
    handle: options.handle as Route["handle"],
  };
}
