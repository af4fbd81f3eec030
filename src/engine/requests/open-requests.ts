import { SallyportError } from "../../errors.ts";
import type { AgentEventBody } from "../../protocol/events.ts";
import type { By } from "../../protocol/objects.ts";
import type { Actor } from "../actor.ts";
import { engineLimits } from "../engine-limits.ts";
import type { RecordOptions } from "../transcripts/transcript.ts";

/** How a request ended. `answer` and `by` are null when nobody answered: the turn ended, or the asker was revoked. */
export type Settled<Answer> =
  | { readonly answer: Answer; readonly by: By }
  | { readonly answer: null; readonly by: null };

export interface OpenOptions<Answer> {
  /** Writes and announces the events of the request. */
  readonly record: (bodies: readonly AgentEventBody[], options: RecordOptions) => Promise<unknown>;
  readonly asked: AgentEventBody;
  readonly resolved: (settled: Settled<Answer>) => AgentEventBody;
  /** Ends the request unanswered. */
  readonly signal: AbortSignal;
  /** Called after the request was opened and after it was settled. */
  readonly onChange: () => void;
}

/**
 * Requests that wait for a person. The first answer wins, whatever number comes at once; an answer counts when it is
 * on the disk, and until then nobody else is told anything. None times out.
 */
export interface OpenRequests<View, Answer> {
  /** Resolves when the request is settled. Throws `overloaded`, and `disk_full` when it could not be written. */
  ask(view: View, options: OpenOptions<Answer>): Promise<Settled<Answer>>;
  /**
   * Answers a request. `judge` looks at it at the last moment and may throw: then it stays open. Throws `not_found`,
   * `conflict` (already_resolved, turn_over), `disk_full`.
   */
  answer(requestId: string, actor: Actor, judge: (view: View) => Answer): Promise<void>;
  /** Ends those for which `where` is true, unanswered, and resolves when that was announced. */
  withdraw(where: (view: View) => boolean): Promise<void>;
  /** Oldest first. */
  list(): readonly View[];
}

interface Entry<View, Answer> {
  readonly view: View;
  readonly options: OpenOptions<Answer>;
  readonly deliver: (settled: Settled<Answer>) => void;
  settling: Promise<void> | null;
}

export function createOpenRequests<View extends { readonly request_id: string }, Answer>(): OpenRequests<
  View,
  Answer
> {
  const open = new Map<string, Entry<View, Answer>>();
  const closed = new Map<string, By | null>();
  let opening = 0;
  let openChars = 0;

  function close(id: string, by: By | null): void {
    open.delete(id);
    closed.set(id, by);
    for (const oldest of closed.keys()) {
      if (closed.size <= engineLimits.closedRequestsRemembered) break;
      closed.delete(oldest);
    }
  }

  async function settle(
    entry: Entry<View, Answer>,
    settled: Settled<Answer>,
    beforeWrite?: () => void,
  ): Promise<void> {
    const settling = (async () => {
      await entry.options.record([entry.options.resolved(settled)], {
        sync: true,
        owe: settled.by === null,
        onAnnounce: () => close(entry.view.request_id, settled.by),
        ...(beforeWrite ? { beforeWrite } : {}),
      });
      entry.options.onChange();
      entry.deliver(settled);
    })();
    entry.settling = settling;
    try {
      await settling;
    } finally {
      entry.settling = null;
    }
  }

  /**
   * Calls `settleIt` for the entry when nobody else is settling it, in the same step in which that was seen. False when
   * it is not open any more.
   */
  async function whenUnsettled(
    id: string,
    settleIt: (entry: Entry<View, Answer>) => Promise<void>,
  ): Promise<boolean> {
    for (let entry = open.get(id); entry; entry = open.get(id)) {
      if (!entry.settling) {
        await settleIt(entry);
        return true;
      }
      // A failed answer is reported to the one who gave it; here only its end counts.
      await entry.settling.catch(() => undefined);
    }
    return false;
  }

  async function withdrawOne(id: string): Promise<void> {
    await whenUnsettled(id, (entry) => settle(entry, { answer: null, by: null }));
  }

  return {
    async ask(view, options) {
      const chars = JSON.stringify(view).length;
      if (
        open.size + opening >= engineLimits.openRequests ||
        openChars + chars > engineLimits.openRequestChars
      )
        throw new SallyportError("overloaded", "Too many requests wait for an answer; answer some first.");
      let deliver: (settled: Settled<Answer>) => void = () => undefined;
      const delivered = new Promise<Settled<Answer>>((resolve) => {
        deliver = resolve;
      });
      opening += 1;
      openChars += chars;
      try {
        await options.record([options.asked], {
          onAnnounce: () => open.set(view.request_id, { view, options, deliver, settling: null }),
        });
      } catch (error) {
        openChars -= chars;
        throw error;
      } finally {
        opening -= 1;
      }
      options.onChange();
      const onAbort = (): void => {
        // What cannot be written is owed and announced, so this does not reject.
        void withdrawOne(view.request_id);
      };
      if (options.signal.aborted) onAbort();
      else options.signal.addEventListener("abort", onAbort, { once: true });
      try {
        return await delivered;
      } finally {
        openChars -= chars;
        options.signal.removeEventListener("abort", onAbort);
      }
    },
    async answer(requestId, actor, judge) {
      const settled = await whenUnsettled(requestId, async (entry) => {
        const answer = judge(entry.view);
        await settle(entry, { answer, by: actor.by }, () => actor.assertLive());
      });
      if (!settled) throw closedRefusal(requestId);
    },
    async withdraw(where) {
      const ids = [...open.values()].map((entry) => entry.view).filter(where);
      await Promise.all(ids.map((view) => withdrawOne(view.request_id)));
    },
    list: () => [...open.values()].map((entry) => entry.view),
  };

  function closedRefusal(id: string): SallyportError {
    const by = closed.get(id);
    if (by === undefined)
      return new SallyportError("not_found", "There is no such request.", { field: "request_id" });
    if (by === null)
      return new SallyportError("conflict", "The turn that asked this has ended.", { reason: "turn_over" });
    return new SallyportError("conflict", `Answered on ${by.name}.`, { reason: "already_resolved" });
  }
}
