import { ulidOf } from "../../../protocol/mew/ids.ts";
import type { MewServerMessage, MewServerMessageOf } from "../../../protocol/mew/server-messages.ts";
import type { PermissionRequest, Question } from "../../../protocol/objects.ts";
import type { Child } from "./family.ts";

/** A permission request as a connection in either spelling is told of it; they differ for a subagent's. */
export function permissionMessages(
  request: Pick<PermissionRequest, "request_id" | "tool" | "input">,
  child: Child | null,
): { readonly camel: MewServerMessage; readonly snake: MewServerMessage } {
  const common = { request_id: ulidOf(request.request_id), tool_name: request.tool, input: request.input };
  const plain: MewServerMessageOf<"permission_request"> = { type: "permission_request", ...common };
  if (!child) return { camel: plain, snake: plain };
  return {
    camel: plain,
    snake: { type: "subagent_permission_request", parent_call_id: child.parentCallId, ...common },
  };
}

/** Ids in the dialect's form; what is missing is an empty text, as its clients expect. */
export function questionMessage(
  question: Pick<Question, "request_id" | "call_id" | "subagent" | "questions">,
): MewServerMessageOf<"ask_user_request"> {
  return {
    type: "ask_user_request",
    request_id: ulidOf(question.request_id),
    call_id: question.call_id ?? "",
    questions: question.questions.map(({ prompt, options }) => ({
      prompt,
      options: options.map(({ label, description }) => ({ label, description: description ?? "" })),
    })),
    ...(question.subagent === null ? {} : { subagent: question.subagent }),
  };
}

export interface OpenCounts {
  readonly permissions: number;
  readonly questions: number;
}

/** How many requests wait for each session, its subagents' among them. */
export interface Attention {
  open(kind: keyof OpenCounts, agent: string, requestId: string): void;
  /** The session that it waited for; null when it is not known. */
  close(requestId: string): string | null;
  of(agent: string): OpenCounts;
}

export function createAttention(): Attention {
  const waiting = new Map<string, { readonly kind: keyof OpenCounts; readonly agent: string }>();
  const counts = new Map<string, { permissions: number; questions: number }>();

  return {
    open(kind, agent, requestId) {
      if (waiting.has(requestId)) return;
      waiting.set(requestId, { kind, agent });
      const count = counts.get(agent) ?? { permissions: 0, questions: 0 };
      count[kind] += 1;
      counts.set(agent, count);
    },
    close(requestId) {
      const known = waiting.get(requestId);
      if (!known) return null;
      waiting.delete(requestId);
      const count = counts.get(known.agent);
      if (count) {
        count[known.kind] -= 1;
        if (count.permissions + count.questions === 0) counts.delete(known.agent);
      }
      return known.agent;
    },
    of: (agent) => ({ permissions: 0, questions: 0, ...counts.get(agent) }),
  };
}
