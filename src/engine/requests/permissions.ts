import { createHash } from "node:crypto";
import { SallyportError } from "../../errors.ts";
import { newId } from "../../lib/ids.ts";
import type { CommandOf } from "../../protocol/commands.ts";
import type { Decision, PermissionRequest } from "../../protocol/objects.ts";
import type { Actor } from "../actor.ts";
import { makeValueVisible, makeVisible } from "../visible-text.ts";
import { createOpenRequests, type OpenOptions, type Settled } from "./open-requests.ts";

export interface PermissionToAsk {
  readonly workspace: string;
  readonly tab: string;
  readonly agent: string | null;
  readonly turn: string | null;
  readonly callId: string | null;
  readonly tool: string;
  /** The raw command line or path that is judged and run. */
  readonly subject: string;
  /** The tool's raw input. */
  readonly input: unknown;
  readonly cwd: string;
  readonly allowSession: string | null;
  /** A sentence of ours that whoever answers must know. */
  readonly note?: string;
}

export interface Permissions {
  /** Asks every client. Resolves with the decision; null when the request ended unanswered. */
  ask(
    call: PermissionToAsk,
    options: Pick<OpenOptions<Decision>, "record" | "signal" | "onChange"> & {
      /** Told the id when the request is open. */
      readonly onOpen?: (requestId: string) => void;
    },
  ): Promise<Settled<Decision>>;
  /** Throws `not_found`, `conflict` (already_resolved, turn_over, changed), `invalid_field`, `disk_full`. */
  approve(command: CommandOf<"approve">, actor: Actor): Promise<void>;
  /** Ends what the turn still asks, unanswered. */
  endTurn(turn: string): Promise<void>;
  list(): readonly PermissionRequest[];
}

/**
 * The request as every client gets it. In `summary` and `cwd` whatever is invisible is written out, newlines too; in
 * `input` as well, but newlines and tabs stay, since it may be shown in lines. The raw call is bound by `digest`.
 */
function describePermission(call: PermissionToAsk, requestId: string, atMs: number): PermissionRequest {
  return {
    request_id: requestId,
    workspace: call.workspace,
    tab: call.tab,
    agent: call.agent,
    turn: call.turn,
    call_id: call.callId,
    tool: makeVisible(call.tool, { keepLayout: false }),
    summary: makeVisible(call.subject, { keepLayout: false }),
    input: makeValueVisible(call.input),
    cwd: makeVisible(call.cwd, { keepLayout: false }),
    allow_session: call.allowSession === null ? null : makeVisible(call.allowSession, { keepLayout: false }),
    digest: createHash("sha256")
      .update(JSON.stringify([call.tool, call.subject, call.input, call.cwd, call.allowSession]))
      .digest("base64url"),
    at: new Date(atMs).toISOString(),
    ...(call.note === undefined ? {} : { note: call.note }),
  };
}

/**
 * Open requests live in memory; what is written of them goes through the `record` of whoever asks. `now` is epoch
 * milliseconds.
 */
export function createPermissions(options: { readonly now: () => number }): Permissions {
  const requests = createOpenRequests<PermissionRequest, Decision>();

  return {
    ask(call, { onOpen, onChange, ...rest }) {
      const view = describePermission(call, newId(), options.now());
      let opened = false;
      return requests.ask(view, {
        ...rest,
        asked: { type: "permission_requested", ...view },
        resolved: ({ answer, by }) => ({
          type: "permission_resolved",
          request_id: view.request_id,
          allowed: answer !== null && answer !== "deny",
          decision: answer,
          by,
        }),
        onChange() {
          if (!opened) onOpen?.(view.request_id);
          opened = true;
          onChange();
        },
      });
    },
    approve(command, actor) {
      return requests.answer(command.request_id, actor, (view) => {
        if (command.digest !== undefined && command.digest !== view.digest)
          throw new SallyportError(
            "conflict",
            "This is not the call that you were shown. It still waits: look at it again.",
            { reason: "changed" },
          );
        if (command.decision === "allow_session" && view.allow_session === null)
          throw new SallyportError(
            "invalid_field",
            "This call cannot be remembered for the session; allow or deny it.",
            { field: "decision" },
          );
        return command.decision;
      });
    },
    endTurn: (turn) => requests.withdraw((view) => view.turn === turn),
    list: () => requests.list(),
  };
}
