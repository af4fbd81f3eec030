import { errorBody, SallyportError } from "../../errors.ts";
import type { Log } from "../../lib/log.ts";
import type { MewClientType } from "../../protocol/mew/client-messages.ts";
import { type DecodeProblem, decodeClientMessage, encodeServerMessage } from "../../protocol/mew/codec.ts";
import { readUuid } from "../../protocol/mew/ids.ts";
import type { MewServerMessage } from "../../protocol/mew/server-messages.ts";
import { isJsonObject, parseUntrustedJson } from "../body-json.ts";
import { logFault } from "../log-fault.ts";
import { cheapFrameBytes, createCommandGuard, rateMessage } from "../sockets/command-guard.ts";
import type { DialectHandler } from "../sockets/connection.ts";
import { textFrame } from "../sockets/frame.ts";
import { readyMessage } from "./live-session.ts";
import type { MewContext, MewMessageTable } from "./message-table.ts";
import { jobErrorMessage } from "./messages/job-messages.ts";
import { receiptMessage } from "./messages/turn-messages.ts";
import { showSession } from "./show-session.ts";

export interface MewSessionOptions {
  readonly context: MewContext;
  readonly table: MewMessageTable;
  readonly log: Log;
  readonly now: () => number;
}

/** Messages beyond the dialect's document whose answers are so, too: a connection in its spelling is never sent them. */
const snakeAnswers: ReadonlySet<MewClientType> = new Set([
  "load_session_history",
  "list_dir",
  "list_filesystem_dir",
  "read_file_preview",
  "list_personas",
]);

/** The mew dialect on one connection: parses a frame, judges rate, shape and scopes, and runs it. */
export function createMewDialect({ context, table, log, now }: MewSessionOptions): DialectHandler {
  const { client, hub } = context;
  const guard = createCommandGuard(client.connection, now);

  function refuse(error: unknown): void {
    logFault(log, error, "command");
    client.send({ type: "error", message: errorBody(error).message });
  }
  function refuseRate(): void {
    client.send({ type: "error", message: rateMessage });
    guard.refused();
  }

  /** An answer with the identities of what was asked, where these were readable. */
  async function refuseProblem(problem: DecodeProblem): Promise<void> {
    const { type, ids, problem: message } = problem;
    const { session_id, request_id, job_id } = ids;
    if (
      type === "read_job_output" &&
      session_id !== undefined &&
      request_id !== undefined &&
      job_id !== undefined
    )
      client.send(jobErrorMessage({ session_id, request_id, job_id }, message));
    else if (type === "submit_prompt" && session_id !== undefined && request_id !== undefined) {
      const agent = readUuid(session_id);
      // The same id was accepted before, whatever it comes with now: that is its receipt.
      const known = agent === null ? null : await context.engine.sessions.receipt(agent, request_id);
      const receipt = known && known.status !== "unknown" ? known : { status: "rejected" as const, message };
      client.send(receiptMessage({ session_id, request_id }, receipt));
    } else client.send({ type: "error", message });
  }

  async function run(raw: Readonly<Record<string, unknown>>): Promise<void> {
    const decoded = decodeClientMessage(raw);
    if (decoded.spelling !== null) client.speak(decoded.spelling);
    if (!decoded.ok) {
      await refuseProblem(decoded);
      // A newer client may send what this daemon does not know yet.
      if (decoded.type !== null || decoded.spelling === null) guard.malformed();
      return;
    }
    const { message } = decoded;
    if (client.spelling === "camel" && snakeAnswers.has(message.type)) {
      const text = `the answer to ${message.type} has no name in this spelling: connect with snake_case tags`;
      client.send({ type: "error", message: text });
      return;
    }
    try {
      await table.run(message, context);
    } catch (error) {
      refuse(error);
      // For any other failure it is not certain that nothing was accepted.
      const isRefused = error instanceof SallyportError && error.code === "scope_missing";
      if (message.type === "submit_prompt" && isRefused)
        client.send(receiptMessage(message, { status: "rejected", message: error.message }));
    }
  }

  /** What was dropped is in the history: it is told anew, as after attaching again. */
  function catchUp(): MewServerMessage {
    const { session } = client;
    if (!session) return { type: "error", message: "Messages were dropped: this client read too slowly." };
    if (!client.holding)
      showSession(client, session, context, { ready: false, isNew: false }).catch((error: unknown) => {
        logFault(log, error, "command");
        client.connection.end(1011, "internal");
      });
    return readyMessage(session);
  }

  return {
    receive({ data, waited }) {
      if (!guard.mayGoOn()) return;
      const isLarge = data.length > cheapFrameBytes;
      if (isLarge && !guard.take()) return refuseRate();
      let raw: unknown;
      try {
        raw = parseUntrustedJson(data);
        if (!isJsonObject(raw)) throw new SallyportError("bad_request", "A message is a JSON object.");
      } catch (error) {
        refuse(error);
        guard.malformed();
        return;
      }
      // Who reads a log chunk by chunk and waits for each goes at our pace: that is no flood, however fast we are.
      const isPaced = waited && (raw.type === "ReadJobOutput" || raw.type === "read_job_output");
      if (!isLarge && !isPaced && !guard.take()) return refuseRate();
      return run(raw);
    },
    lagged: () => textFrame(encodeServerMessage(catchUp(), client.spelling)),
    ended: () => hub.depart(client),
  };
}
