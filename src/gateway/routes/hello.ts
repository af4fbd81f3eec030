import { Type } from "typebox";
import { helloProof } from "../../auth/master-token.ts";
import { routeScopes } from "../../auth/scope-table.ts";
import type { Access } from "../../protocol/objects.ts";
import { HelloSchema } from "../../protocol/rest-answers.ts";
import { type Route, route } from "../route.ts";

export interface HelloDeps {
  readonly version: string;
  readonly access: () => Access;
  /** Port of the main door. */
  readonly port: () => number;
  readonly masterToken: () => string;
  /** A probe of a tunnel came in by this door. The id is untrusted: only who sent it knows whether it is one. */
  readonly onProbe?: (door: string, rawId: string) => void;
}

const Query = Type.Object({
  challenge: Type.Optional(Type.String({ minLength: 16, maxLength: 64 })),
  probe: Type.Optional(Type.String({ minLength: 16, maxLength: 64 })),
});

/**
 * `GET /api/hello`: tells a client that it found a daemon. To a challenge from this machine it answers with a proof that it
 * knows the master token; nobody else gets one, because a proof for a stranger could be passed on.
 */
export function helloRoutes(deps: HelloDeps): readonly Route[] {
  return [
    route({
      method: "GET",
      path: "/api/hello",
      scope: routeScopes["GET /api/hello"],
      summary:
        "Tells that this is a daemon; to a challenge from its own machine it proves that it knows the master token",
      response: HelloSchema,
      query: Query,
      handle: ({ admission, query }) => {
        const { challenge, probe } = query;
        if (probe !== undefined) deps.onProbe?.(admission.door, probe);
        const proves = challenge !== undefined && admission.requestClass === "local";
        return {
          body: {
            app: "sallyport",
            version: deps.version,
            remote: deps.access() !== "off",
            pairing: true,
            protocols: ["native/1", "mew/3"],
            ...(proves ? { proof: helloProof(deps.masterToken(), deps.port(), challenge) } : {}),
          },
        };
      },
    }),
  ];
}
