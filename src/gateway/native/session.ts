import { errorBody, SallyportError } from "../../errors.ts";
import type { Log } from "../../lib/log.ts";
import { JsonBytes } from "../body-bytes.ts";
import { isJsonObject, parseUntrustedJson } from "../body-json.ts";
import { logFault } from "../log-fault.ts";
import { cheapFrameBytes, createCommandGuard, rateMessage } from "../sockets/command-guard.ts";
import type { Connection, DialectHandler } from "../sockets/connection.ts";
import { textFrame } from "../sockets/frame.ts";
import type { ReceivedFrame } from "../sockets/inbox.ts";
import { actorOf } from "./actor.ts";
import {
  type CommandContext,
  type CommandReply,
  type CommandTable,
  noSuchCommand,
  type ParsedCommand,
  readClientRef,
} from "./command-table.ts";
import type { Follows } from "./follows.ts";
import type { OpenWorkspace } from "./open-workspaces.ts";

export interface NativeSessionOptions {
  readonly connection: Connection;
  readonly table: CommandTable;
  readonly follows: Follows;
  readonly workspace: OpenWorkspace;
  /** Rev of the newest change. */
  readonly rev: () => number;
  readonly log: Log;
  readonly now: () => number;
}

/** The native dialect on one connection: parses a frame, judges rate, shape and scopes, runs it and sends the reply. */
export function createNativeSession(options: NativeSessionOptions): DialectHandler {
  const { connection, table, log, now } = options;
  const { lease } = connection;
  const context: CommandContext = {
    actor: actorOf(lease, now),
    lease,
    connection: { follows: options.follows, workspace: options.workspace },
  };
  const guard = createCommandGuard(connection, now);

  function reply(body: CommandReply | object, clientRef: string | undefined): void {
    connection.sendReply(encodeReply(body, clientRef));
  }
  function refuse(error: unknown, clientRef: string | undefined): void {
    logFault(log, error, "command");
    reply(errorBody(error, clientRef), undefined);
  }
  function refuseMalformed(error: unknown, clientRef: string | undefined): void {
    refuse(error, clientRef);
    guard.malformed();
  }
  function refuseRate(clientRef: string | undefined): void {
    refuse(new SallyportError("rate_limited", rateMessage, { retryAfterSeconds: 1 }), clientRef);
    guard.refused();
  }

  function run(parsed: ParsedCommand, clientRef: string | undefined): void | Promise<void> {
    try {
      const result = table.run(parsed, context);
      if (!(result instanceof Promise)) return reply(result, clientRef);
      return result.then(
        (body) => reply(body, clientRef),
        (error) => refuse(error, clientRef),
      );
    } catch (error) {
      return refuse(error, clientRef);
    }
  }

  return {
    receive({ data, isBinary, waited }: ReceivedFrame) {
      if (!guard.mayGoOn()) return;
      if (isBinary) {
        refuseMalformed(
          new SallyportError("bad_request", "Commands are text frames; this was binary."),
          undefined,
        );
        return;
      }
      const isLarge = data.length > cheapFrameBytes;
      if (isLarge && !guard.take()) return refuseRate(undefined);
      let clientRef: string | undefined;
      try {
        const raw = parseUntrustedJson(data);
        clientRef = readClientRef(raw);
        if (!isJsonObject(raw)) throw new SallyportError("bad_request", "A command is a JSON object.");
        // Who reads a log chunk by chunk and waits for each goes at our pace: that is no flood, however fast we are.
        const isPaced = waited && raw.type === "job_output";
        if (!isLarge && !isPaced && !guard.take()) return refuseRate(clientRef);
        if (typeof raw.type === "string" && !table.knows(raw.type)) {
          refuse(noSuchCommand(), clientRef);
          return;
        }
        return run(table.parse(raw), clientRef);
      } catch (error) {
        refuseMalformed(error, clientRef);
      }
    },
    lagged: () => textFrame(JSON.stringify({ type: "lagged", rev: options.rev() })),
    ended() {
      options.follows.endAll();
      options.workspace.end();
    },
  };
}

function encodeReply(body: CommandReply | object, clientRef: string | undefined): Buffer {
  if (body instanceof JsonBytes)
    return textFrame(clientRef === undefined ? body.bytes : body.withClientRef(clientRef).bytes);
  return textFrame(JSON.stringify(clientRef === undefined ? body : { ...body, client_ref: clientRef }));
}
