import type { PushMessage, PushNotification } from "../../src/protocol/push.ts";

/** What the worker keeps with a notification, and finds again when it is touched. */
export interface NotificationData {
  /** Page that a touch opens: a path behind the `#`. */
  readonly path: string;
  /** Of a permission request that may be answered here. */
  readonly request: { readonly request_id: string; readonly digest: string; readonly title: string } | null;
}

/** A notification before it is shown. */
export interface Notice {
  readonly title: string;
  readonly body: string;
  readonly tag: string;
  readonly data: NotificationData;
  readonly actions: readonly { readonly action: "allow" | "deny"; readonly title: string }[];
  /** Stays until somebody reacts, where the system lets it. */
  readonly stays: boolean;
  readonly silent: boolean;
}

/** Tags of notifications that the page itself does not stand behind. */
const plainTag = "sallyport";
const moreTag = "sallyport-more";

/** Something waits, and what it is could not be asked. */
export function plainNotice(body: string): Notice {
  return {
    title: "Sallyport",
    body,
    tag: plainTag,
    data: { path: "/", request: null },
    actions: [],
    stays: false,
    silent: false,
  };
}

/** All that a message asks to be shown. */
export function noticesOf(message: PushMessage): readonly Notice[] {
  const notices = message.notifications.map(noticeOf);
  if (message.more === 0) return notices;
  const body = `And ${message.more} more ${message.more === 1 ? "waits" : "wait"} for you.`;
  return [...notices, { ...plainNotice(body), tag: moreTag, data: { path: "/approvals", request: null } }];
}

function noticeOf(notification: PushNotification): Notice {
  const { tag } = notification;
  const where = notification.tab_name ?? notification.agent_name ?? "Sallyport";
  const base = { tag, actions: [], silent: false } as const;
  switch (notification.kind) {
    case "permission": {
      const { request_id, digest, summary, cwd } = notification;
      const title = `Allow ${notification.tool}? – ${where}`;
      return {
        ...base,
        title,
        body: `${summary}\nin ${cwd}`,
        data: { path: `/approvals/${request_id}`, request: { request_id, digest, title } },
        actions: notification.decisions.map((action) => ({
          action,
          title: action === "allow" ? "Allow" : "Deny",
        })),
        stays: true,
      };
    }
    case "question":
      return {
        ...base,
        title: `Question – ${where}`,
        body: notification.prompts.join("\n"),
        data: { path: `/approvals/${notification.request_id}`, request: null },
        stays: true,
      };
    case "turn": {
      const name = notification.agent_name ?? where;
      return {
        ...base,
        title: notification.outcome === "done" ? `Done – ${name}` : `Failed – ${name}`,
        body: notification.text ?? where,
        data: { path: `/agent/${notification.agent}`, request: null },
        stays: false,
      };
    }
  }
}
