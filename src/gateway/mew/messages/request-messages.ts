import { SallyportError } from "../../../errors.ts";
import { readUuid, ulidOf } from "../../../protocol/mew/ids.ts";
import type { MewContext, MewHandlers } from "../message-table.ts";
import { asksSession } from "../show-session.ts";
import { attached } from "./find-session.ts";

type RequestMessages = Pick<MewHandlers, "permission_response" | "ask_user_response">;

/** The engine's id of a request that the attached session is asked. Throws `not_found`, also for another session's. */
function requestOf(context: MewContext, rawRequestId: string): string {
  const session = attached(context);
  const id = readUuid(rawRequestId);
  if (id === null) throw noRequest();
  const { pending, questions } = context.engine.snapshot();
  const open = [...pending, ...questions].find(({ request_id }) => request_id === id);
  if (open && !asksSession(open, session, context.hub)) throw noRequest();
  return id;
}

/**
 * Runs an answer. Who answers what waits no more, or not since the daemon was started, gets its dialog closed all the same,
 * and is told why.
 */
async function answered(context: MewContext, id: string, answer: () => Promise<void>): Promise<void> {
  try {
    await answer();
  } catch (error) {
    if (
      error instanceof SallyportError &&
      (error.code === "not_found" || error.reason === "already_resolved" || error.reason === "turn_over")
    )
      context.client.send({ type: "request_resolved", request_id: ulidOf(id) });
    throw error;
  }
}

/** Answers to permission requests and questions: the first of any client in either dialect counts. */
export const requestMessages: RequestMessages = {
  async permission_response(message, context) {
    const request_id = requestOf(context, message.request_id);
    const decision = message.decision === "allow_once" ? "allow" : message.decision;
    await answered(context, request_id, () =>
      context.engine.approve({ type: "approve", request_id, decision }, context.client.actor),
    );
  },
  async ask_user_response({ request_id: rawId, answers, cancelled }, context) {
    const request_id = requestOf(context, rawId);
    await answered(context, request_id, () =>
      context.engine.answer(
        cancelled
          ? { type: "answer", request_id, cancelled }
          : { type: "answer", request_id, answers: [...answers] },
        context.client.actor,
      ),
    );
  },
};

function noRequest(): SallyportError {
  return new SallyportError("not_found", "This session has no such request.");
}
