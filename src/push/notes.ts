import type { Change } from "../protocol/changes.ts";
import type { AgentEvent } from "../protocol/events.ts";

type EventOf<T extends AgentEvent["type"]> = Extract<AgentEvent, { readonly type: T }>;

/** Something that a person who is elsewhere may want to know. It is there until somebody reacts to it. */
export type Note = RequestNote | TurnNote;

export interface RequestNote {
  readonly kind: "request";
  readonly tag: string;
  /** Monotonic milliseconds. */
  readonly sinceMs: number;
  readonly workspace: string | null;
  readonly tab: string | null;
  readonly event: EventOf<"permission_requested"> | EventOf<"question_asked">;
}

export interface TurnNote {
  readonly kind: "turn";
  readonly tag: string;
  readonly sinceMs: number;
  readonly workspace: string | null;
  readonly tab: string | null;
  readonly agent: string;
  readonly turn: string;
  readonly outcome: "done" | "failed";
  readonly error: string | null;
  readonly tookMs: number;
  /** The device that asked for the turn; null for the master or nobody. */
  readonly askedBy: string | null;
}

export interface NoteBook {
  /** What is open, by tag, oldest first. */
  readonly open: ReadonlyMap<string, Note>;
  /**
   * Takes in a change of the log.
   *
   * @returns the note that it closed, with the device that did it; `opened` when there is a new one; null: nothing changed
   */
  take(change: Change, nowMs: number): NoteChange | null;
}
export type NoteChange =
  | { readonly kind: "opened" }
  | { readonly kind: "closed"; readonly tags: readonly string[]; readonly by: string | null };

/** The oldest ended turn is forgotten for the newest. Requests are bounded by the engine. */
const maxTurnNotes = 200;

const requestTag = (requestId: string): string => `request-${requestId}`;
/** Of the turn, not of the agent: each end is told once. */
const turnTag = (turn: string): string => `turn-${turn}`;

interface Place {
  readonly workspace: string | null;
  readonly tab: string | null;
}

interface RunningTurn {
  readonly turn: string;
  readonly startedMs: number;
  askedBy: string | null;
}

/** Keeps what waits for a person, from the events of agents. Only tables are touched: it stands in the way of the engine. */
export function createNoteBook(): NoteBook {
  const open = new Map<string, Note>();
  const running = new Map<string, RunningTurn>();
  /** Agents that were started by another; their turns are part of its turn. */
  const subagents = new Set<string>();

  function close(tags: readonly string[], by: string | null): NoteChange | null {
    const closed = tags.filter((tag) => open.delete(tag));
    return closed.length === 0 ? null : { kind: "closed", tags: closed, by };
  }

  function turnNotes(): TurnNote[] {
    return [...open.values()].filter((note) => note.kind === "turn");
  }

  function closeTurns(where: (note: TurnNote) => boolean): NoteChange | null {
    const tags = turnNotes()
      .filter(where)
      .map(({ tag }) => tag);
    return close(tags, null);
  }

  function add(note: Note): NoteChange {
    open.delete(note.tag);
    open.set(note.tag, note);
    const turns = note.kind === "turn" ? turnNotes() : [];
    if (turns.length > maxTurnNotes) open.delete(turns[0]?.tag ?? "");
    return { kind: "opened" };
  }

  function endTurn(event: EventOf<"turn_finished">, place: Place, nowMs: number): NoteChange | null {
    const { agent } = event;
    if (agent === null || subagents.delete(agent)) return null;
    const started = running.get(agent);
    running.delete(agent);
    // One that was cancelled was ended by somebody who looked; one of an earlier process is told by the page.
    if (started?.turn !== event.turn || event.outcome === "cancelled") return null;
    return add({
      kind: "turn",
      tag: turnTag(event.turn),
      sinceMs: nowMs,
      ...place,
      agent,
      turn: event.turn,
      outcome: event.outcome,
      error: event.error ?? null,
      tookMs: nowMs - started.startedMs,
      askedBy: started.askedBy,
    });
  }

  function takeEvent(event: AgentEvent, { workspace, tab }: Place, nowMs: number) {
    const place = { workspace, tab };
    switch (event.type) {
      case "permission_requested":
      case "question_asked":
        return add({ kind: "request", tag: requestTag(event.request_id), sinceMs: nowMs, ...place, event });
      case "permission_resolved":
      case "question_resolved":
        return close([requestTag(event.request_id)], event.by?.device ?? null);
      case "agent_started":
        if (event.parent !== null && event.agent !== null) subagents.add(event.agent);
        return null;
      case "turn_started":
        if (event.agent === null || subagents.has(event.agent)) return null;
        running.set(event.agent, { turn: event.turn, startedMs: nowMs, askedBy: null });
        return closeTurns((note) => note.agent === event.agent);
      case "user_message": {
        const started = event.agent === null ? undefined : running.get(event.agent);
        if (started?.turn === event.turn) started.askedBy = event.by.device;
        return null;
      }
      case "turn_finished":
        return endTurn(event, place, nowMs);
      default:
        return null;
    }
  }

  return {
    open,
    take(change, nowMs) {
      if (change.type === "event") return takeEvent(change.event, change, nowMs);
      if (change.type !== "tab_closed") return null;
      return closeTurns((note) => note.tab === change.tab);
    },
  };
}
