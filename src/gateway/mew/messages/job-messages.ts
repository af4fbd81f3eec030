import { SallyportError } from "../../../errors.ts";
import { limits } from "../../../protocol/limits.ts";
import type { MewServerMessage } from "../../../protocol/mew/server-messages.ts";
import type { MewSession } from "../attachment.ts";
import type { MewContext, MewHandlers } from "../message-table.ts";
import { isJobOf } from "../show-session.ts";
import { agentOf } from "./find-session.ts";

interface Identities {
  readonly session_id: string;
  readonly job_id: string;
  readonly request_id: string;
}

/** The answer to a request about a job's output that was refused; it repeats what was asked for. */
export function jobErrorMessage(
  { session_id, job_id, request_id }: Identities,
  message: string,
): MewServerMessage {
  return { type: "job_output_error", session_id, job_id, request_id, message };
}

async function sessionFacts(
  rawSessionId: string,
  { engine, hub }: MewContext,
): Promise<Pick<MewSession, "agent" | "tab">> {
  const agent = agentOf(rawSessionId);
  const live = hub.find(agent);
  if (live) return live;
  const { tab } = await engine.sessions.get(agent);
  return { agent, tab };
}

/** Reading what a job printed, by bytes; answers repeat the identities that were asked for. */
export const jobMessages: Pick<MewHandlers, "read_job_output"> = {
  async read_job_output(message, context) {
    const { client, engine } = context;
    const { session_id, job_id, request_id, offset } = message;
    try {
      const session = await sessionFacts(session_id, context);
      const job = engine.listJobs().find(({ id }) => id === job_id);
      if (!job || !isJobOf(job, session, context))
        throw new SallyportError("not_found", "This session has no such job.");
      const chunk = await engine.readJob({ job: job.id, offset, limit: limits.jobOutputBytes });
      const { next_offset, output, done, incomplete } = chunk;
      client.send({
        type: "job_output",
        session_id,
        job_id,
        request_id,
        offset,
        next_offset,
        output,
        done,
        incomplete,
      });
    } catch (error) {
      if (!(error instanceof SallyportError) || error.code === "internal") throw error;
      client.send(jobErrorMessage(message, error.message));
    }
  },
};
