import { encodeServerMessage } from "../../../protocol/mew/codec.ts";
import { isSentIn, type MewServerMessage } from "../../../protocol/mew/server-messages.ts";
import type { MewSpelling } from "../../../protocol/mew/spelling.ts";
import { textFrame } from "../../sockets/frame.ts";

/** Whom a message is for: clients attached to one session, to any session of a tab, or to any session at all. */
export type MewAudience =
  | { readonly to: "session"; readonly agent: string }
  | { readonly to: "tab"; readonly tab: string }
  | { readonly to: "all" };

/** A message with its frame: one encoding for each spelling, however many clients get it, and none that nobody gets. */
export interface MewDelivery {
  readonly audience: MewAudience;
  readonly message: MewServerMessage;
  /** The whole WebSocket frame; null when a connection in this spelling is not sent it. */
  frame(spelling: MewSpelling): Buffer | null;
}

/** @param only the one spelling that it is for, where the spellings are told different things */
export function createDelivery(
  audience: MewAudience,
  message: MewServerMessage,
  only?: MewSpelling,
): MewDelivery {
  const frames: { -readonly [S in MewSpelling]?: Buffer | null } = {};
  return {
    audience,
    message,
    frame(spelling) {
      let frame = frames[spelling];
      if (frame === undefined) {
        const isFor = (only === undefined || only === spelling) && isSentIn(message.type, spelling);
        frame = isFor ? textFrame(encodeServerMessage(message, spelling)) : null;
        frames[spelling] = frame;
      }
      return frame;
    },
  };
}
