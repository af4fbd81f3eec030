import { missingScopes, type ScopeRow } from "../../auth/scope-table.ts";
import type { Engine } from "../../engine/engine.ts";
import { SallyportError } from "../../errors.ts";
import {
  type MewClientMessage,
  type MewClientMessageOf,
  type MewClientType,
  mewClientSchemas,
  mewUnsupportedTypes,
} from "../../protocol/mew/client-messages.ts";
import type { MewClient } from "./attachment.ts";
import type { FewAtOnce } from "./few-at-once.ts";
import type { MewHub } from "./hub.ts";
import type { SharedReads } from "./shared-reads.ts";
import type { ShownHistory } from "./show-session.ts";

export interface MewContext {
  readonly client: MewClient;
  readonly engine: Engine;
  readonly hub: MewHub;
  /** Turns for what is megabytes to read and to encode (histories, lists), of all connections together. */
  readonly fewReads: FewAtOnce;
  readonly histories: SharedReads<ShownHistory>;
  readonly version: string;
}

/** What each message does. Answers are sent by the handler itself; what it throws is answered with `error`. */
export type MewHandlers = {
  readonly [T in MewClientType]: (
    message: MewClientMessageOf<T>,
    context: MewContext,
  ) => void | Promise<void>;
};

export interface MewMessageTable {
  /** Throws, or rejects with, `scope_missing` and whatever the message itself is refused for. */
  run(message: MewClientMessage, context: MewContext): void | Promise<void>;
}

/** Puts handler and scope row of each message side by side. Throws TypeError for a message without a row. */
export function createMessageTable(
  handlers: MewHandlers,
  scopeRows: Readonly<Record<string, ScopeRow>>,
): MewMessageTable {
  const rowOf = (type: string): ScopeRow => {
    const row = Object.hasOwn(scopeRows, type) ? scopeRows[type] : undefined;
    if (!row) throw new TypeError(`the mew message ${type} has no row in the scope table`);
    if (row.needs === "public") throw new TypeError(`the mew message ${type} must not be public`);
    return row;
  };
  const rows = new Map<string, ScopeRow>();
  for (const type of [...Object.keys(mewClientSchemas), ...mewUnsupportedTypes]) rows.set(type, rowOf(type));

  return {
    run(message, context) {
      const row = rows.get(message.type) ?? rowOf(message.type);
      const [missing] = missingScopes(row, context.client.connection.lease.scopes, message);
      if (missing !== undefined)
        throw new SallyportError(
          "scope_missing",
          `This needs the scope "${missing}", which this device lacks.`,
        );
      // The decoder made the message fit the type that its tag names.
      const handle = handlers[message.type] as (
        message: MewClientMessage,
        context: MewContext,
      ) => void | Promise<void>;
      return handle(message, context);
    },
  };
}
