import { type Static, Type } from "typebox";

/** Web push (docs/protocol.md, "Push"): what a browser tells the daemon, and what its service worker is told. */
const nullable = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) =>
  Type.Union([schema, Type.Null()]);
const Id = Type.String();
const Time = Type.String({ description: "RFC 3339, UTC, with milliseconds" });

/** `requests`: permission requests and questions left unanswered. `turns`: turns that ended. */
export const PushKindSchema = Type.Union([Type.Literal("requests"), Type.Literal("turns")]);
export type PushKind = Static<typeof PushKindSchema>;

/** What `PushSubscription.toJSON()` of a browser yields, and which kinds are wanted; both without `kinds`. */
export const PushSubscribeSchema = Type.Object({
  endpoint: Type.String({ minLength: 1, maxLength: 2_048 }),
  keys: Type.Object({
    p256dh: Type.String({ minLength: 1, maxLength: 128 }),
    auth: Type.String({ minLength: 1, maxLength: 64 }),
  }),
  kinds: Type.Optional(Type.Array(PushKindSchema, { minItems: 1, maxItems: 2, uniqueItems: true })),
});
export type PushSubscribe = Readonly<Static<typeof PushSubscribeSchema>>;

/** A subscription of the calling device. Its address and keys are never told again. */
export const PushSubscriptionSchema = Type.Object({
  id: Id,
  /** Host of the push service. */
  service: Type.String(),
  kinds: Type.Array(PushKindSchema),
  created: Time,
  /** When the push service last took a message. */
  last_sent: nullable(Time),
  /** Why the last message did not go out. */
  problem: nullable(Type.String()),
});
export type PushSubscription = Readonly<Static<typeof PushSubscriptionSchema>>;

export const PushStateSchema = Type.Object({
  available: Type.Boolean(),
  /** Why it is not, and what would help. */
  reason: nullable(Type.String()),
  /** `applicationServerKey` for `pushManager.subscribe`: base64url of the VAPID key. */
  public_key: nullable(Type.String()),
  /** Seconds that something is left unanswered before it is told. */
  after_seconds: Type.Integer(),
  subscriptions: Type.Array(PushSubscriptionSchema),
});
export type PushState = Readonly<Static<typeof PushStateSchema>>;

const common = {
  /** A notification is shown under its tag, and closed by it. */
  tag: Type.String(),
  workspace: nullable(Id),
  tab: nullable(Id),
  agent: nullable(Id),
  tab_name: nullable(Type.String()),
  agent_name: nullable(Type.String()),
};
/** Texts are cut to what a notification shows; the page shows all. */
export const PushNotificationSchema = Type.Union([
  Type.Object({
    kind: Type.Literal("permission"),
    ...common,
    request_id: Id,
    tool: Type.String(),
    summary: Type.String(),
    cwd: Type.String(),
    /** For `approve`: binds the answer to this call. */
    digest: Type.String(),
    /** What this device may answer from a notification: never `allow` for a call that does not fit into it whole. */
    decisions: Type.Array(Type.Union([Type.Literal("allow"), Type.Literal("deny")])),
  }),
  Type.Object({
    kind: Type.Literal("question"),
    ...common,
    request_id: Id,
    prompts: Type.Array(Type.String()),
  }),
  Type.Object({
    kind: Type.Literal("turn"),
    ...common,
    turn: Id,
    outcome: Type.Union([Type.Literal("done"), Type.Literal("failed")]),
    /** The error, or the beginning of the last thing that the agent said. */
    text: nullable(Type.String()),
  }),
]);
export type PushNotification = Readonly<Static<typeof PushNotificationSchema>>;

/** What the id in a push stands for at the moment it is asked. */
export const PushMessageSchema = Type.Object({
  /** To show; what was answered meanwhile is not in it. */
  notifications: Type.Array(PushNotificationSchema),
  /** How many more there are than are listed. */
  more: Type.Integer({ minimum: 0 }),
  /** Tags that may stay on the screen: whatever else of ours is shown there was answered, or is over. */
  open: Type.Array(Type.String()),
});
export type PushMessage = Readonly<Static<typeof PushMessageSchema>>;

/** The whole payload of a push: nothing of the content passes a push service, not even its length. */
export interface PushPayload {
  readonly id: string;
}
