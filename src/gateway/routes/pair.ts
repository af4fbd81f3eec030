import { Type } from "typebox";
import { routeScopes } from "../../auth/scope-table.ts";
import { SallyportError } from "../../errors.ts";
import type { Paired, Pairing } from "../../pairing/pair-device.ts";
import { DeviceKindSchema } from "../../protocol/objects.ts";
import { PairAnswerSchema } from "../../protocol/rest-answers.ts";
import { type Route, route } from "../route.ts";

export interface PairDeps {
  readonly version: string;
  readonly pairing: Pairing;
}

/** Other fields are ignored: what a device may do is never its own wish. */
const Body = Type.Object({
  code: Type.Optional(Type.String()),
  ticket: Type.Optional(Type.String()),
  name: Type.String(),
  kind: Type.Optional(DeviceKindSchema),
  nonce: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
});

/** `POST /api/pair`: trades a pairing code, or the page ticket of this machine's browser, for a device token. */
export function pairRoutes(deps: PairDeps): readonly Route[] {
  const answer = ({ token, device }: Paired) => ({ body: { token, device, version: deps.version } });
  return [
    route({
      method: "POST",
      path: "/api/pair",
      scope: routeScopes["POST /api/pair"],
      summary: "Trades a pairing code, or the ticket of a page, for a device token",
      response: PairAnswerSchema,
      body: Body,
      handle: async ({ admission, body }) => {
        const { requestClass, clientAddress } = admission;
        const request = { rawName: body.name, kind: body.kind ?? null, requestClass, clientAddress };
        if (body.ticket !== undefined) {
          if (body.code !== undefined)
            throw new SallyportError("invalid_field", "Send a code or a ticket, not both.", {
              field: "ticket",
            });
          return answer(await deps.pairing.byTicket({ ...request, rawTicket: body.ticket }));
        }
        if (body.code === undefined)
          throw new SallyportError("invalid_field", "Send the pairing code.", { field: "code" });
        return answer(
          await deps.pairing.byCode({ ...request, rawCode: body.code, nonce: body.nonce ?? null }),
        );
      },
    }),
  ];
}
