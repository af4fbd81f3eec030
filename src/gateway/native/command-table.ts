import type { Lease } from "../../auth/principal.ts";
import { missingScopes, type ScopeRow } from "../../auth/scope-table.ts";
import type { Actor } from "../../engine/actor.ts";
import { SallyportError } from "../../errors.ts";
import { type Command, type CommandOf, type CommandType, commandSchemas } from "../../protocol/commands.ts";
import type { JsonBytes } from "../body-bytes.ts";
import { isJsonObject } from "../body-json.ts";
import { createValidator, type InputValidator } from "../body-validate.ts";
import type { Follows } from "./follows.ts";
import type { OpenWorkspace } from "./open-workspaces.ts";

/** What a command may use of the connection it came on; there is none over REST. */
export interface CommandConnection {
  readonly follows: Follows;
  /** The connection's workspace, and how it becomes another one. */
  readonly workspace: OpenWorkspace;
}

export interface CommandContext {
  readonly actor: Actor;
  readonly lease: Lease;
  readonly connection: CommandConnection | null;
}

export type CommandReply = JsonBytes | ({ readonly type: string } & Readonly<Record<string, unknown>>);

export type CommandHandlers = {
  readonly [T in CommandType]: (
    command: CommandOf<T>,
    context: CommandContext,
  ) => CommandReply | Promise<CommandReply>;
};

/** A command whose shape is right; its scopes are not judged yet. */
export interface ParsedCommand {
  readonly command: Command;
  readonly row: CommandRow;
}

interface CommandRow {
  readonly scope: ScopeRow;
  readonly validator: InputValidator;
  readonly run: (command: Command, context: CommandContext) => CommandReply | Promise<CommandReply>;
}

/** The commands of the native dialect, the same for the socket and `POST /api/command`. */
export interface CommandTable {
  knows(type: string): boolean;
  /** Throws `invalid_field`; the field is `type` for a command that does not exist. */
  parse(raw: Readonly<Record<string, unknown>>): ParsedCommand;
  /** Throws, or rejects with, `scope_missing` and whatever the command itself refuses. */
  run(parsed: ParsedCommand, context: CommandContext): CommandReply | Promise<CommandReply>;
}

/**
 * Puts schema, scope row and handler of each command side by side. Throws TypeError for a command that lacks one: it
 * must not be callable without a policy.
 */
export function createCommandTable(
  handlers: CommandHandlers,
  scopeRows: Readonly<Record<string, ScopeRow>>,
): CommandTable {
  const rows = new Map<string, CommandRow>();
  for (const [type, handler] of Object.entries(handlers)) {
    const schema = Object.hasOwn(commandSchemas, type) ? commandSchemas[type as CommandType] : undefined;
    const scope = Object.hasOwn(scopeRows, type) ? scopeRows[type] : undefined;
    if (!schema) throw new TypeError(`the command ${type} has no schema`);
    if (!scope) throw new TypeError(`the command ${type} has no row in the scope table`);
    if (scope.needs === "public") throw new TypeError(`the command ${type} must not be public`);
    // The row's validator accepts nothing that its handler does not take.
    rows.set(type, { scope, validator: createValidator(schema), run: handler as CommandRow["run"] });
  }

  return {
    knows: (type) => rows.has(type),
    parse(raw) {
      const row = typeof raw.type === "string" ? rows.get(raw.type) : undefined;
      if (!row) throw noSuchCommand();
      row.validator.assert(raw);
      return { command: raw as Command, row };
    },
    run({ command, row }, context) {
      const [missing] = missingScopes(row.scope, context.lease.scopes, command);
      if (missing !== undefined)
        throw new SallyportError(
          "scope_missing",
          `This needs the scope "${missing}", which this device lacks.`,
        );
      return row.run(command, context);
    },
  };
}

/** Not counted as malformed: a newer client may name commands that this daemon does not have yet. */
export function noSuchCommand(): SallyportError {
  return new SallyportError("invalid_field", "There is no command of this type here.", { field: "type" });
}

/** The `client_ref` of a message, where it is one that may be repeated in the answer. */
export function readClientRef(raw: unknown): string | undefined {
  if (!isJsonObject(raw)) return undefined;
  const ref = raw.client_ref;
  return typeof ref === "string" && ref.length <= 128 ? ref : undefined;
}
