import type { Row, TurnUsage } from "./rows.ts";

export interface OpenMessage {
  readonly id: string;
  readonly text: string;
  readonly thinking: string;
  readonly at: string;
}

/** One agent's conversation as far as it is in memory. */
export interface Transcript {
  readonly rows: readonly Row[];
  /** Where a call, a request or the todos of the open turn stand in `rows`. */
  readonly places: ReadonlyMap<string, number>;
  /** The message that is being said; shown behind all rows, since its record will come behind all that are there. */
  readonly open: OpenMessage | null;
  /** Output of calls that go on; by call. */
  readonly outputs: ReadonlyMap<string, string>;
  readonly turn: {
    readonly id: string | null;
    readonly at: string | null;
    readonly usage: TurnUsage | null;
    /** Requests and questions that wait for a person, and since when there is one. */
    readonly open: number;
    readonly askedAt: string | null;
    readonly waitedMillis: number;
  } | null;
  /** The agent prepares a call of this tool. */
  readonly preparing: string | null;
  readonly title: string | null;
  readonly contextTokens: number | null;
  /** The greatest `seq` that was taken in. */
  readonly seq: number;
}

/** What a batch of events works on; nothing of the transcript before it is modified. */
export interface Draft {
  rows: Row[];
  places: Map<string, number>;
  open: OpenMessage | null;
  outputs: Map<string, string>;
  turn: Transcript["turn"];
  preparing: string | null;
  title: string | null;
  contextTokens: number | null;
  seq: number;
}

/** A copy to work on. */
export function draftOf(transcript: Transcript): Draft {
  return {
    ...transcript,
    rows: [...transcript.rows],
    places: new Map(transcript.places),
    outputs: new Map(transcript.outputs),
  };
}

/** The place of a call in `places`. */
export function callKey(call: string): string {
  return `call ${call}`;
}
