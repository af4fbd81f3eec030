import type { TSchema } from "typebox";
import { Compile, type Validator } from "typebox/compile";
import { changeBodies, pushedSchemas, SnapshotSchema } from "../../src/protocol/changes.ts";
import type { CommandType } from "../../src/protocol/commands.ts";
import { agentEventBodies } from "../../src/protocol/events.ts";
import { ErrorSchema, replySchemas } from "../../src/protocol/replies.ts";
import type { Message } from "./socket.ts";

const compiled = new Map<TSchema, Validator>();

/** What is wrong with a value, or null. */
export function problemWith(schema: TSchema, value: unknown): string | null {
  const validator = compiled.get(schema) ?? Compile(schema);
  compiled.set(schema, validator);
  const [first] = validator.Errors(value);
  return first === undefined ? null : `${first.instancePath} ${first.message}: ${JSON.stringify(value)}`;
}

/** The kind of a message that the daemon sent unasked, and what is wrong with it. */
export function judgePushed(message: Message): { readonly kind: string; readonly problem: string | null } {
  const { type, rev } = message;
  if (type === "snapshot") return { kind: "snapshot", problem: problemWith(SnapshotSchema, message) };
  if (Object.hasOwn(pushedSchemas, type))
    return { kind: type, problem: problemWith(pushedSchemas[type as keyof typeof pushedSchemas], message) };
  if (!Object.hasOwn(changeBodies, type))
    return { kind: type, problem: `unknown: ${JSON.stringify(message)}` };
  if (!Number.isSafeInteger(rev)) return { kind: type, problem: "a change without a rev" };
  const problem = problemWith(changeBodies[type as keyof typeof changeBodies], message);
  if (type !== "event" || problem !== null) return { kind: type, problem };
  const eventType = message.event.type as keyof typeof agentEventBodies;
  return { kind: `event ${eventType}`, problem: problemWith(agentEventBodies[eventType], message.event) };
}

/** What is wrong with the reply to a command; an error is a reply too. */
export function problemWithReply(command: string, reply: Message): string | null {
  if (reply.type === "error") return problemWith(ErrorSchema, reply);
  return problemWith(replySchemas[command as CommandType], reply);
}
