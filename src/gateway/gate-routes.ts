import type { Target } from "../auth/parse-target.ts";
import type { ScopeRow } from "../auth/scope-table.ts";
import type { Method } from "./route.ts";

/** A way in as the gate sees it. `SOCKET` is a WebSocket upgrade. A `Route` of the REST table is one too. */
export interface GateRoute {
  readonly method: Method | "SOCKET";
  /** Segments, `:name` for a parameter that is not empty. */
  readonly path: string;
  readonly scope: ScopeRow;
}

/** What a method and path lead to. `wrong_way`: a socket asked for without an upgrade, or the other way round. */
export type RouteMatch =
  | { readonly kind: "route" | "wrong_way"; readonly label: string; readonly scope: ScopeRow }
  | { readonly kind: "static" | "unknown"; readonly label: string; readonly scope: ScopeRow };

export interface RouteTable {
  match(method: string, isUpgrade: boolean, target: Target): RouteMatch;
  isPage(target: Target): boolean;
}

interface Row {
  readonly route: RouteMatch;
  readonly wrongWay: RouteMatch;
}

interface Pattern extends Row {
  readonly method: string;
  readonly segments: readonly string[];
}

/** An upgrade is a GET whatever the route's own method is: in the order in which they are looked for. */
const restMethods: readonly Method[] = ["GET", "POST", "PATCH", "DELETE"];
const open: ScopeRow = { needs: "public" };
const anyPrincipal: ScopeRow = { needs: [] };
const staticFile: RouteMatch = { kind: "static", label: "static", scope: open };
const staticWrongWay: RouteMatch = { kind: "wrong_way", label: "static", scope: open };
const unknownPage: RouteMatch = { kind: "unknown", label: "unknown", scope: open };
/** Under `/api` and `/mew` not even the absence of a route is told without a credential. */
const unknownApi: RouteMatch = { kind: "unknown", label: "unknown", scope: anyPrincipal };

/**
 * Compiles the rows. Throws TypeError for a row without a policy, a malformed path, or one that is there twice: the
 * daemon does not start.
 *
 * @param isStaticPath tells the files that the page is made of; asked for paths outside `/api` and `/mew`
 * only, each segment written as `encodeURIComponent` does
 */
export function compileRoutes(
  routes: readonly GateRoute[],
  isStaticPath: (path: string) => boolean,
): RouteTable {
  const exact = new Map<string, Map<string, Row>>();
  const patterns: Pattern[] = [];
  const seen = new Set<string>();
  for (const route of routes) {
    const label = `${route.method} ${route.path}`;
    assertPolicy(route, label);
    const shape = label.replace(/:[^/]+/g, ":");
    if (seen.has(shape)) throw new TypeError(`route ${label} is declared twice`);
    seen.add(shape);
    const row: Row = {
      route: { kind: "route", label, scope: route.scope },
      wrongWay: { kind: "wrong_way", label, scope: route.scope },
    };
    if (!route.path.includes(":")) {
      const byMethod = exact.get(route.path) ?? new Map<string, Row>();
      exact.set(route.path, byMethod.set(route.method, row));
    } else patterns.push({ ...row, method: route.method, segments: route.path.split("/") });
  }

  const find = (method: string, path: string): Row | undefined =>
    exact.get(path)?.get(method) ?? patterns.find((pattern) => fits(pattern, method, path));
  const findAny = (methods: readonly string[], path: string): Row | undefined =>
    methods.map((method) => find(method, path)).find((row) => row !== undefined);
  const isPage = (target: Target): boolean => !isApiPath(target.path) && isStaticPath(target.routedPath);

  return {
    isPage,
    match(method, isUpgrade, target) {
      const { path } = target;
      const row = find(isUpgrade ? "SOCKET" : method, path);
      if (row) return row.route;
      const page = (method === "GET" || method === "HEAD") && isPage(target);
      if (page) return isUpgrade ? staticWrongWay : staticFile;
      const otherWay = method === "GET" ? findAny(isUpgrade ? restMethods : ["SOCKET"], path) : undefined;
      if (otherWay) return otherWay.wrongWay;
      return isApiPath(path) ? unknownApi : unknownPage;
    },
  };
}

function isApiPath(path: string): boolean {
  return path === "/api" || path.startsWith("/api/") || path === "/mew" || path.startsWith("/mew/");
}

function fits(pattern: Pattern, method: string, path: string): boolean {
  if (pattern.method !== method) return false;
  const segments = path.split("/");
  if (segments.length !== pattern.segments.length) return false;
  return pattern.segments.every((wanted, at) =>
    wanted.startsWith(":") ? segments[at] !== "" : segments[at] === wanted,
  );
}

function assertPolicy(route: GateRoute, label: string): void {
  // Rows also come from untyped places (plugins, tests), and this is the last chance to notice.
  const needs: unknown = (route.scope as ScopeRow | undefined)?.needs;
  if (needs !== "public" && !Array.isArray(needs))
    throw new TypeError(`route ${label} declares no policy: give it a row of the scope table`);
  if (!/^\/(:?[\w.-]+(\/:?[\w.-]+)*)?$/.test(route.path))
    throw new TypeError(`route ${label} has a malformed path`);
}
