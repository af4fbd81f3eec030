import type { Reply, ToolCall } from "./reply.ts";

/** One message of a stream of server-sent events; without a name only its data is written. */
export interface Piece {
  readonly event?: string;
  readonly data: unknown;
}

export interface Voice {
  /** The answer as a stream. */
  stream(reply: Reply, about: About): readonly Piece[];
  /** The same as one JSON value. */
  whole(reply: Reply, about: About): unknown;
  /** A refusal. */
  error(status: number, message: string): unknown;
  /** What ends a stream, beside its end. */
  readonly last?: string;
}

export interface About {
  /** Differs for each answer of a server; ids of calls are made from it. */
  readonly id: string;
  readonly model: string;
}

export const usage = { input: 1_200, output: 34 };

export function piecesOf({ text = "", pieceChars = 16 }: Reply, of: string = text): readonly string[] {
  const pieces: string[] = [];
  for (let from = 0; from < of.length; from += pieceChars) pieces.push(of.slice(from, from + pieceChars));
  return pieces;
}

export function callsOf(reply: Reply, about: About): readonly (ToolCall & { readonly id: string })[] {
  return (reply.calls ?? []).map((call, index) => ({ ...call, id: `call_${about.id}_${index}` }));
}
