import { AnswerError } from "../client/answer-error.ts";
import type { Client } from "../client/client.ts";
import type { CommandInput } from "../client/replies.ts";
import type { AgentEvent } from "../protocol/events.ts";
import type { AnswerDesk, AnswerDeskOptions } from "./answer-desk.ts";

/** Sends what a person decided, with the digest of what was shown; a refusal ("Answered on work laptop.") is told. */
export function sendAnswers(
  connection: Pick<Client, "command">,
  tell: (message: string) => void,
): Pick<AnswerDeskOptions, "approve" | "answer"> {
  const send = async (command: CommandInput): Promise<boolean> => {
    try {
      await connection.command(command);
      return true;
    } catch (error) {
      tell(error instanceof Error ? error.message : String(error));
      const reason = error instanceof AnswerError ? error.body.reason : undefined;
      return reason === "already_resolved" || reason === "turn_over";
    }
  };
  return {
    approve: ({ request_id, digest }, decision) => send({ type: "approve", request_id, decision, digest }),
    answer: ({ request_id }, answers) =>
      send({
        type: "answer",
        request_id,
        ...(answers === null ? { cancelled: true } : { answers: [...answers] }),
      }),
  };
}

/** Lets the desk know of what an event asks or settles. */
export async function showRequests(desk: AnswerDesk, event: AgentEvent): Promise<void> {
  if (event.type === "permission_requested") await desk.ask(event);
  else if (event.type === "question_asked" && event.agent !== null)
    await desk.ask({ ...event, agent: event.agent });
  else if (event.type === "permission_resolved" || event.type === "question_resolved")
    await desk.resolved(event.request_id);
}
