import { Type } from "typebox";
import { routeScopes } from "../../auth/scope-table.ts";
import { SallyportError } from "../../errors.ts";
import { commandSchemas } from "../../protocol/commands.ts";
import { limits } from "../../protocol/limits.ts";
import { CommandReplySchema } from "../../protocol/rest-answers.ts";
import { JsonBytes } from "../body-bytes.ts";
import { isJsonObject } from "../body-json.ts";
import { leaseOf } from "../lease-of.ts";
import { actorOf } from "../native/actor.ts";
import { type CommandReply, type CommandTable, readClientRef } from "../native/command-table.ts";
import { type Route, route } from "../route.ts";

/** `POST /api/command`: any command of the socket; answers its reply with the reply's HTTP status. */
export function commandRoutes(table: CommandTable, now: () => number): readonly Route[] {
  return [
    route({
      method: "POST",
      path: "/api/command",
      scope: routeScopes["POST /api/command"],
      summary: "Any command of the socket; the answer is its reply",
      response: CommandReplySchema,
      bodyDetails: Type.Union(Object.values(commandSchemas)),
      body: Type.Object({ type: Type.String() }),
      maxBodyBytes: limits.commandBodyBytes,
      handle: async ({ admission, body }) => {
        const lease = leaseOf(admission);
        if (!isJsonObject(body)) throw new SallyportError("bad_request", "A command is a JSON object.");
        const context = { actor: actorOf(lease, now), lease, connection: null };
        const reply = await table.run(table.parse(body), context);
        return { body: withClientRef(reply, readClientRef(body)) };
      },
    }),
  ];
}

function withClientRef(reply: CommandReply, clientRef: string | undefined): unknown {
  if (clientRef === undefined) return reply;
  return reply instanceof JsonBytes ? reply.withClientRef(clientRef) : { ...reply, client_ref: clientRef };
}
