import { Type } from "typebox";
import { routeScopes } from "../../auth/scope-table.ts";
import type { TicketBook } from "../../auth/ticket-book.ts";
import { SallyportError } from "../../errors.ts";
import { toTime } from "../../lib/clock.ts";
import { assertLive } from "../../pairing/device-rules.ts";
import { TicketSchema } from "../../protocol/rest-answers.ts";
import { leaseOf } from "../lease-of.ts";
import { type Route, route } from "../route.ts";

export interface TicketDeps {
  readonly tickets: Pick<TicketBook, "issue">;
}

const Body = Type.Object({
  purpose: Type.Optional(Type.Union([Type.Literal("socket"), Type.Literal("page")])),
});

/** `POST /api/ws/ticket`: a one-use stand-in for the caller's credential, for 30 s and one purpose. */
export function ticketRoutes(deps: TicketDeps): readonly Route[] {
  return [
    route({
      method: "POST",
      path: "/api/ws/ticket",
      scope: routeScopes["POST /api/ws/ticket"],
      summary: "A stand-in for the credential, for one use within 30 seconds",
      response: TicketSchema,
      body: Body,
      handle: ({ admission, body }) => {
        const lease = leaseOf(admission);
        assertLive(lease);
        const purpose = body.purpose ?? "socket";
        if (purpose === "page" && lease.principal.kind !== "master")
          throw new SallyportError(
            "scope_missing",
            "Only the master token opens pages. Run: sallyport web --open",
          );
        const { ticket, expiresAtMs } = deps.tickets.issue({
          lease,
          requestClass: admission.requestClass,
          purpose,
        });
        return { body: { ticket, expires: toTime(expiresAtMs) } };
      },
    }),
  ];
}
