import { restRoutes } from "../../src/daemon/rest-routes.ts";
import type { Route } from "../../src/gateway/route.ts";

/** Every route of the daemon, for tests that look at them and call none but the description. */
export function allRoutes(): { readonly routes: readonly Route[] } {
  // Parts that are taken apart when the routes are made, and no more: a handler that used them would fail.
  const parts = {
    facts: { version: "1.2.3" },
    authority: { pairing: null, codes: null, audit: () => undefined, devices: null, tickets: null },
    engine: { library: {} },
    changeLog: {},
    native: { views: {}, table: {} },
  };
  return { routes: restRoutes(parts as unknown as Parameters<typeof restRoutes>[0]) };
}
