import type { Actor } from "../../engine/actor.ts";
import type { MewServerMessage } from "../../protocol/mew/server-messages.ts";
import type { MewSpelling } from "../../protocol/mew/spelling.ts";
import type { MewClientKind } from "../../protocol/mew/values.ts";
import type { Mode } from "../../protocol/objects.ts";
import type { Connection } from "../sockets/connection.ts";
import type { MewDelivery } from "./translate/delivery.ts";

/** Clients and sessions know each other: who is attached to what. */
/** One connection of the dialect. */
export interface MewClient {
  readonly connection: Connection;
  readonly actor: Actor;
  readonly spelling: MewSpelling;
  /** The first call decides. */
  speak(spelling: MewSpelling): void;
  kind: MewClientKind;
  /** False once it said that it wants no titles made. */
  autoTitle: boolean;
  /** What it is attached to; set by the hub. */
  session: MewSession | null;
  /** A reply: never dropped. A message that its spelling does not have is not sent. */
  send(message: MewServerMessage): void;
  /** A reply that others are given, too. */
  answer(delivery: MewDelivery): void;
  /** What happened in its session. `seq` of an event of the session's own agent. */
  deliver(delivery: MewDelivery, seq: number | null): void;
  readonly holding: boolean;
  /** Keeps back what is delivered from now on, forgetting what was kept. Returns a number for this time. */
  hold(): number;
  /** True while the hold with this number is the newest, and nothing of it was lost. */
  holds(number: number): "whole" | "overflowed" | "over";
  /** Sends what was kept and is not in the history, which holds the events up to `seq`. */
  release(seq: number): void;
}

/** A session that mew clients are attached to, or left not long ago. Kept up to date by the hub. */
export interface MewSession {
  readonly agent: string;
  /** Null while its agent is on no tab. */
  tab: string | null;
  cwd: string | null;
  mode: Mode;
  runtime: string;
  model: string | null;
  thinking: string | null;
  title: string | null;
  turn: string | null;
  queued: boolean;
  /** The turn that the last legacy `Prompt` began. */
  legacyTurn: string | null;
  /** Who gets a title made when this turn is done. */
  untitled: { readonly turn: string; readonly actor: Actor } | null;
  /** The attached clients with their numbers. */
  readonly clients: Map<MewClient, number>;
  nextClientId: number;
  /** Set while the grace period after the last client runs. */
  stopGrace: (() => void) | null;
  /** The grace period is over; it is unloaded as soon as it may. */
  unloads: boolean;
}
