import type { Command, CommandType } from "../protocol/commands.ts";
import type { ReplyOf } from "../protocol/replies.ts";

type Without<T, K extends string> = T extends unknown ? Omit<T, K> : never;
/** A command as a caller writes it: the client adds `client_ref` itself. */
export type CommandInput = Without<Command, "client_ref">;
export type CommandInputOf<T extends CommandType> = Extract<CommandInput, { readonly type: T }>;

/** The reply to whatever has none of its own; it names what was made or touched. */
export interface Ack {
  readonly type: "ack";
  readonly workspace?: string;
  readonly tab?: string;
  readonly agent?: string;
  readonly job?: string;
  readonly request_id?: string;
  readonly [field: string]: unknown;
}

/** By command. A table and no function of types, so that the published types can be written out without the schemas. */
type Replies = { readonly [T in CommandType]: ReplyOf<T> };

/** What a command of type `T` is answered with. More fields may be there than are named. */
export type ReplyTo<T extends string> = T extends CommandType ? Replies[T] : Ack;
