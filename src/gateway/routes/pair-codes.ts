import { Type } from "typebox";
import type { AuditSink } from "../../auth/audit.ts";
import { routeScopes } from "../../auth/scope-table.ts";
import { toTime } from "../../lib/clock.ts";
import type { CodeBook } from "../../pairing/code-book.ts";
import { assertLive, byOf, enforce, grantRefusal } from "../../pairing/device-rules.ts";
import { createOffers } from "../../pairing/offers.ts";
import type { ReachableAddress } from "../../pairing/reachable-addresses.ts";
import { PairingCodeSchema } from "../../protocol/rest-answers.ts";
import { ScopeSchema, scopes as scopeOrder } from "../../protocol/scopes.ts";
import { leaseOf } from "../lease-of.ts";
import { type Route, route } from "../route.ts";

export interface PairCodeDeps {
  readonly codes: Pick<CodeBook<unknown>, "mint">;
  readonly addresses: () => readonly ReachableAddress[];
  readonly audit: AuditSink;
}

const maxExpiresDays = 3_650;

const Body = Type.Object({
  scopes: Type.Optional(Type.Array(ScopeSchema, { minItems: 1, maxItems: 16 })),
  expires_days: Type.Optional(Type.Number({ exclusiveMinimum: 0, maximum: maxExpiresDays })),
});

/**
 * `POST /api/pair/codes`: a code for one device, with a link and a QR code per address. Without `scopes` the device gets
 * what its maker holds; more is refused, and it ends with its maker at the latest.
 */
export function pairCodeRoutes(deps: PairCodeDeps): readonly Route[] {
  return [
    route({
      method: "POST",
      path: "/api/pair/codes",
      scope: routeScopes["POST /api/pair/codes"],
      summary: "A new code for one device, with a link and a QR code per address",
      response: PairingCodeSchema,
      body: Body,
      handle: async ({ admission, body }) => {
        const minter = leaseOf(admission);
        assertLive(minter);
        const wanted = body.scopes ?? [...minter.scopes];
        enforce(grantRefusal(minter, wanted));
        const scopes = scopeOrder.filter((scope) => wanted.includes(scope));
        const expiresDays = body.expires_days ?? null;
        const { code, expiresAtMs } = deps.codes.mint({ minter, scopes, expiresDays });
        deps.audit({ type: "code_made", by: byOf(minter), scopes, expires_days: expiresDays });
        const offers = await createOffers(deps.addresses(), code);
        return { body: { code, expires: toTime(expiresAtMs), scopes, offers } };
      },
    }),
  ];
}
