import type { FastifyReply } from "fastify";
import { errorBody, SallyportError } from "../errors.ts";
import type { Log } from "../lib/log.ts";
import { logFault } from "./log-fault.ts";
import { apiHeaders } from "./security-headers.ts";

export const notFound = (): SallyportError => new SallyportError("not_found", "There is nothing here.");

/** What the framework throws by itself, in our words: its 4xx are faults of the request, all else is a fault of ours. */
export function fromFramework(error: unknown): unknown {
  if (error instanceof SallyportError || !(error instanceof Error)) return error;
  const status = "statusCode" in error ? error.statusCode : undefined;
  if (typeof status !== "number" || status < 400 || status > 499) return error;
  if (status === 413) return new SallyportError("too_large", "The body is too large.");
  if (status === 415)
    return new SallyportError(
      "unsupported_media_type",
      "Send JSON with the header Content-Type: application/json.",
    );
  return new SallyportError("bad_request", "This request is malformed.", { cause: error });
}

/** Answers with the one error shape. What is not ours is logged and shown as `internal`, without details. */
export function sendError(reply: FastifyReply, thrown: unknown, log: Log): void {
  logFault(log, thrown, "request");
  const body = errorBody(thrown);
  if (body.retry_after !== undefined) reply.header("retry-after", String(body.retry_after));
  reply
    .headers(apiHeaders)
    .code(thrown instanceof SallyportError ? thrown.status : 503)
    .send(body);
}
