import type { Actor } from "../../engine/actor.ts";
import { encodeServerMessage } from "../../protocol/mew/codec.ts";
import { isSentIn, type MewServerMessage } from "../../protocol/mew/server-messages.ts";
import { firstSpelling, type MewSpelling } from "../../protocol/mew/spelling.ts";
import type { Connection } from "../sockets/connection.ts";
import { textFrame } from "../sockets/frame.ts";
import type { MewClient } from "./attachment.ts";

/** More of what happens while a history is read is not kept: the history is read again. */
const maxHeldBytes = 4 * 1024 * 1024;

/** What is told of open requests is told anew behind the history. */
const requestTypes: ReadonlySet<MewServerMessage["type"]> = new Set([
  "permission_request",
  "subagent_permission_request",
  "ask_user_request",
]);

interface Held {
  readonly frame: Buffer;
  readonly type: MewServerMessage["type"];
  /** Of an event of the session's own agent. */
  readonly seq: number | null;
}

export function createMewClient(connection: Connection, actor: Actor): MewClient {
  let spelling: MewSpelling | null = null;
  let held: Held[] | null = null;
  let heldBytes = 0;
  let holdNumber = 0;

  const client: MewClient = {
    connection,
    actor,
    kind: "unknown",
    autoTitle: true,
    session: null,
    get spelling() {
      return spelling ?? firstSpelling;
    },
    speak(first) {
      spelling ??= first;
    },
    send(message) {
      if (isSentIn(message.type, client.spelling))
        connection.sendReply(textFrame(encodeServerMessage(message, client.spelling)));
    },
    answer(delivery) {
      const frame = delivery.frame(client.spelling);
      if (frame !== null) connection.sendReply(frame);
    },
    deliver(delivery, seq) {
      const frame = delivery.frame(client.spelling);
      if (frame === null) return;
      if (held === null) connection.sendChange(frame);
      else if (heldBytes <= maxHeldBytes) {
        heldBytes += frame.length;
        if (heldBytes > maxHeldBytes) held = [];
        else held.push({ frame, type: delivery.message.type, seq });
      }
    },
    get holding() {
      return held !== null;
    },
    hold() {
      held = [];
      heldBytes = 0;
      holdNumber += 1;
      return holdNumber;
    },
    holds(number) {
      if (number !== holdNumber || !connection.open) return "over";
      return heldBytes > maxHeldBytes ? "overflowed" : "whole";
    },
    release(seq) {
      const kept = held ?? [];
      held = null;
      for (const { frame, type, seq: own } of kept) {
        // The history does not tell that a request was answered: a client that attaches again still shows it.
        const isNew = own === null || own > seq || type === "request_resolved";
        if (isNew && !requestTypes.has(type)) connection.sendChange(frame);
      }
    },
  };
  return client;
}
