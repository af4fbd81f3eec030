import type { Change, MissedChanges, Snapshot } from "../src/protocol/changes.ts";
import { closeCodes } from "../src/protocol/close-codes.ts";
import type { Command } from "../src/protocol/commands.ts";
import type { Api } from "./api.ts";
import { applyChange, applyMissed, type Model, modelOf } from "./model.ts";

type Without<T, K extends string> = T extends unknown ? Omit<T, K> : never;
export type LiveCommand = Without<Command, "client_ref">;

export interface Reply {
  readonly type: string;
  readonly code?: string;
  readonly message?: string;
  readonly [field: string]: unknown;
}

export type LiveState = "connecting" | "live" | "waiting";
/** Why it stopped for good. */
export type LiveEnd = "revoked" | "remote_off" | "refused";

export interface LiveHandlers {
  readonly state: (state: LiveState) => void;
  readonly model: (model: Model, change: Change | null) => void;
  readonly ended: (end: LiveEnd, message: string) => void;
}

export interface Live {
  /** Sends a command; null if no reply came. */
  send(command: LiveCommand): Promise<Reply | null>;
  stop(): void;
}

const pingEveryMs = 20_000;
const silentForMs = 45_000;
const maxBackoffMs = 30_000;
const maxWaiting = 100;

/** Keeps the socket of the daemon open, comes back by itself with `since`, and stops where coming back is pointless. */
export function openLive(api: Api, token: string, version: string, handlers: LiveHandlers): Live {
  const waiting = new Map<string, (reply: Reply | null) => void>();
  let socket: WebSocket | null = null;
  let model: Model | null = null;
  let stopped = false;
  let attempts = 0;
  let lastRef = 0;
  let heardAt = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const end = (why: LiveEnd, message: string): void => {
    if (stopped) return;
    stop();
    handlers.ended(why, message);
  };

  const retry = (atLeastMs = 0): void => {
    if (stopped) return;
    handlers.state("waiting");
    attempts += 1;
    const jitter = 0.5 + (crypto.getRandomValues(new Uint8Array(1))[0] ?? 0) / 512;
    const delayMs = Math.max(atLeastMs, Math.min(maxBackoffMs, 500 * 2 ** Math.min(attempts, 7)) * jitter);
    clearTimeout(timer);
    timer = setTimeout(() => void connect(), delayMs);
  };

  const connect = async (): Promise<void> => {
    if (stopped) return;
    clearTimeout(timer);
    handlers.state("connecting");
    // A browser does not show why an upgrade is refused; this request does.
    const answer = await api.call<{ ticket: string }>("POST", "api/ws/ticket", { body: {}, token });
    if (stopped) return;
    if (answer.kind === "offline") return retry();
    if (answer.kind === "refused") {
      if (answer.status === 401) return end("revoked", answer.error.message);
      if (answer.error.code === "remote_off") return end("remote_off", answer.error.message);
      if (answer.status === 429 || answer.status >= 500)
        return retry((answer.retryAfterSeconds ?? 1) * 1_000);
      return end("refused", answer.error.message);
    }
    listen(openSocket(answer.body.ticket));
  };

  const openSocket = (ticket: string): WebSocket => {
    const url = new URL("api/ws", api.base);
    url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
    url.searchParams.set("version", version);
    if (model) {
      url.searchParams.set("since", String(model.rev));
      url.searchParams.set("instance", model.instance);
    }
    url.searchParams.set("ticket", ticket);
    return new WebSocket(url);
  };

  const listen = (opened: WebSocket): void => {
    socket = opened;
    heardAt = Date.now();
    const pings = setInterval(() => {
      if (Date.now() - heardAt > silentForMs) drop(opened, 0, "");
      else if (opened.readyState === WebSocket.OPEN)
        opened.send(JSON.stringify({ type: "ping", client_ref: "ping" }));
    }, pingEveryMs);
    const drop = (dropped: WebSocket, code: number, reason: string): void => {
      clearInterval(pings);
      if (socket !== dropped) return;
      socket = null;
      dropped.close();
      for (const resolve of waiting.values()) resolve(null);
      waiting.clear();
      if (code === closeCodes.revoked) end("revoked", "This device was revoked.");
      else if (code === closeCodes.exposureOff)
        end("remote_off", "Remote access was switched off on this daemon.");
      else if (code === closeCodes.malformed)
        end("refused", "The daemon did not understand this page. Reload it.");
      else retry(code === closeCodes.flood ? floodWaitMs(reason) : 0);
    };
    opened.addEventListener("message", ({ data }) => {
      heardAt = Date.now();
      if (typeof data === "string") receive(data);
    });
    opened.addEventListener("close", ({ code, reason }) => drop(opened, code, reason));
  };

  const receive = (data: string): void => {
    const message = parseMessage(data);
    if (!message) return;
    if (typeof message.client_ref === "string") {
      waiting.get(message.client_ref)?.(message);
      waiting.delete(message.client_ref);
      if (message.type !== "snapshot") return;
    }
    if (message.type === "snapshot") {
      const snapshot = message as unknown as Snapshot | MissedChanges;
      if ("changes" in snapshot) {
        if (!model) return;
        model = applyMissed(model, snapshot);
      } else model = modelOf(snapshot);
      attempts = 0;
      handlers.state("live");
      handlers.model(model, null);
    } else if (message.type === "lagged") {
      void send({ type: "snapshot" });
    } else if (typeof message.rev === "number" && model) {
      const change = message as unknown as Change;
      model = applyChange(model, change);
      handlers.model(model, change);
    }
  };

  const send = (command: LiveCommand): Promise<Reply | null> => {
    const current = socket;
    if (!current || current.readyState !== WebSocket.OPEN || waiting.size >= maxWaiting)
      return Promise.resolve(null);
    lastRef += 1;
    const ref = `w${lastRef}`;
    return new Promise((resolve) => {
      waiting.set(ref, resolve);
      current.send(JSON.stringify({ ...command, client_ref: ref }));
    });
  };

  // Phones freeze pages and keep dead sockets: when the page is seen again, a socket that was silent is not believed.
  const wake = (): void => {
    if (document.visibilityState !== "visible" || stopped) return;
    if (!socket) {
      attempts = 0;
      void connect();
    } else if (Date.now() - heardAt > pingEveryMs + 5_000) socket.close();
  };
  document.addEventListener("visibilitychange", wake);
  window.addEventListener("pageshow", wake);
  window.addEventListener("online", wake);

  const stop = (): void => {
    stopped = true;
    clearTimeout(timer);
    document.removeEventListener("visibilitychange", wake);
    window.removeEventListener("pageshow", wake);
    window.removeEventListener("online", wake);
    const current = socket;
    socket = null;
    current?.close();
    for (const resolve of waiting.values()) resolve(null);
    waiting.clear();
  };

  void connect();
  return { send, stop };
}

function parseMessage(data: string): Reply | null {
  try {
    const raw: unknown = JSON.parse(data);
    return typeof raw === "object" && raw !== null && "type" in raw && typeof raw.type === "string"
      ? (raw as Reply)
      : null;
  } catch {
    // A newer daemon may send what this page does not know.
    return null;
  }
}

/** The reason of a 4429 close carries `retry_after` in seconds. */
function floodWaitMs(reason: string): number {
  const seconds = Number(/\d+/.exec(reason)?.[0] ?? 5);
  return Math.min(seconds, 600) * 1_000;
}
