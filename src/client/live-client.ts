import type { Change, Snapshot } from "../protocol/changes.ts";
import { closeCodes } from "../protocol/close-codes.ts";
import { UnreachableError } from "./answer-error.ts";
import { backOffMs } from "./back-off.ts";
import { type Client, type ClientStatus, StoppedError } from "./client.ts";
import { type Connection, type JobMore, type OpenSocketAt, openConnection } from "./connection.ts";
import { deferred } from "./deferred.ts";
import { createListeners } from "./listeners.ts";
import { createLiveState, type SnapshotRequest } from "./live-state.ts";
import { type PeerWatch, watchPeer } from "./peer-watch.ts";
import { createPromptOutbox } from "./prompt-outbox.ts";
import { type Random, randomFraction } from "./random.ts";
import type { CommandInput, ReplyTo } from "./replies.ts";
import type { Rest } from "./rest.ts";
import { afterClose, afterRefusal, type Next, type StopReason } from "./what-next.ts";

export interface ClientTiming {
  readonly firstMessageMs: number;
  readonly quietMs: number;
  readonly answerMs: number;
  readonly wakeAnswerMs: number;
  /** A connection that held this long is good: the next wait begins small again. */
  readonly goodAfterMs: number;
}

const clientTiming: ClientTiming = {
  firstMessageMs: 15_000,
  quietMs: 30_000,
  answerMs: 10_000,
  wakeAnswerMs: 3_000,
  goodAfterMs: 10_000,
};

export interface LiveClientOptions {
  readonly open: OpenSocketAt;
  /** Asks `GET /api/daemon` when a connection was refused. */
  readonly rest: Pick<Rest, "request">;
  /** This client's own version; a daemon of the same product says whether they differ. */
  readonly version: string;
  readonly random?: Random;
  readonly timing?: Partial<ClientTiming>;
}

/** Starts at once. Nothing in it needs a browser or Node. */
export function createLiveClient(options: LiveClientOptions): Client {
  const timing: ClientTiming = { ...clientTiming, ...options.timing };
  const random = options.random ?? randomFraction;
  const changes = createListeners<[Change, Snapshot]>();
  const snapshots = createListeners<[Snapshot]>();
  const statuses = createListeners<[ClientStatus]>();
  const jobNews = createListeners<[JobMore]>();
  const outbox = createPromptOutbox();
  const firstState = deferred<Snapshot>();
  const live = createLiveState({
    change: changes.tell,
    snapshot(state) {
      firstState.resolve(state);
      snapshots.tell(state);
    },
  });
  let status: ClientStatus = { phase: "connecting" };
  let connection: Connection | null = null;
  let peer: PeerWatch | null = null;
  let failures = 0;
  let wakeUp: () => void = () => undefined;
  let stopped: StoppedError | null = null;

  function setStatus(next: ClientStatus): void {
    status = next;
    statuses.tell(next);
  }

  function stop(reason: StopReason, message: string): void {
    if (stopped !== null) return;
    const error = new StoppedError(reason, message);
    stopped = error;
    const last = connection;
    connection = null;
    peer?.stop();
    setStatus({ phase: "stopped", reason, message });
    firstState.reject(error);
    outbox.close(error);
    last?.close();
    wakeUp();
  }

  async function run(): Promise<void> {
    while (stopped === null) {
      setStatus({ phase: "connecting" });
      const next = await connectOnce();
      if (stopped !== null) return;
      if (next.action === "stop") return stop(next.reason, next.message);
      const retryInMs = next.waitMs ?? backOffMs(failures, random);
      failures += 1;
      setStatus({ phase: "waiting", retryInMs, message: next.message });
      await sleep(retryInMs);
    }
  }

  /** One connection from its beginning to its end. */
  async function connectOnce(): Promise<Next> {
    const state = live.current;
    let opened: Connection;
    try {
      opened = await withDeadline(timing.firstMessageMs, (deadline) =>
        openConnection({
          open: options.open,
          version: options.version,
          deadline,
          resume: state && { since: state.rev, instance: state.instance, workspace: state.workspace.id },
          onSign: () => peer?.heard(),
        }),
      );
    } catch (error) {
      return learnWhy(error);
    }
    if (stopped !== null) {
      opened.close();
      return { action: "stop", reason: "closed", message: "" };
    }
    begin(opened);
    const goodTimer = setTimeout(() => {
      failures = 0;
    }, timing.goodAfterMs);
    const { code, reason } = await opened.closed;
    clearTimeout(goodTimer);
    end(opened);
    if (code === closeCodes.tooLarge) outbox.dropTooLarge();
    return afterClose(code, reason);
  }

  /** Not by what was thrown: a browser does not show why an upgrade was refused. */
  async function learnWhy(thrown: unknown): Promise<Next> {
    try {
      await options.rest.request("GET", "/api/daemon");
    } catch (error) {
      return afterRefusal(error);
    }
    return afterRefusal(thrown instanceof UnreachableError ? thrown : null);
  }

  function begin(opened: Connection): void {
    connection = opened;
    peer = watchPeer({
      quietMs: timing.quietMs,
      answerMs: timing.answerMs,
      ping: () => void opened.command({ type: "ping" }).catch(() => undefined), // Its silence is what counts.
      dead: () => opened.abandon(),
    });
    void fetchMissing(opened, live.take(opened.first));
    opened.onBroadcast((message) => {
      if (stopped !== null) return;
      if (message.type === "job_more") jobNews.tell(message);
      // What has no rev is of a newer daemon, or an answer to nobody.
      else if (message.type !== "snapshot" && typeof message.rev === "number")
        void fetchMissing(opened, live.hear(message));
    });
    if (connection !== opened) return;
    setStatus({ phase: "live" });
    void outbox.flush(opened);
  }

  function end(ended: Connection): void {
    if (connection === ended) connection = null;
    peer?.stop();
    live.reset();
  }

  async function fetchMissing(from: Connection, first: SnapshotRequest | null): Promise<void> {
    try {
      for (let request = first; request !== null; ) request = live.take(await from.command(request));
    } catch {
      from.abandon(); // Without what is missing the state would stay wrong: a new connection brings it.
    }
  }

  /** What a command moved to another workspace has its state when the reply is told. */
  async function follow<C extends CommandInput>(from: Connection, command: C): Promise<ReplyTo<C["type"]>> {
    const reply = await from.command(command);
    const workspace = "workspace" in reply ? workspaceIdOf(reply.workspace) : null;
    if (workspace !== null) await fetchMissing(from, live.moved(workspace));
    return reply;
  }

  function sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      wakeUp = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  void run();

  return {
    get state() {
      return live.current;
    },
    get status() {
      return status;
    },
    get unsentPrompts() {
      return outbox.waiting;
    },
    ready: () => firstState.promise,
    onChange: changes.add,
    onSnapshot: snapshots.add,
    onStatus: statuses.add,
    onJobMore: jobNews.add,
    command(command) {
      if (connection === null)
        return Promise.reject(
          stopped ?? new UnreachableError("There is no connection to the daemon at the moment."),
        );
      return command.type === "workspace_open" || command.type === "launch"
        ? follow(connection, command)
        : connection.command(command);
    },
    prompt(prompt, promptOptions) {
      const receipt = outbox.add(prompt, promptOptions);
      if (connection !== null) void outbox.flush(connection);
      return receipt;
    },
    withdrawPrompt: outbox.withdraw,
    refresh() {
      if (connection !== null) void fetchMissing(connection, live.outdated());
    },
    wake() {
      failures = 0;
      if (connection !== null) peer?.ask(timing.wakeAnswerMs);
      else wakeUp();
    },
    close: () => stop("closed", "The client was closed."),
  };
}

/** `launch` is answered with a workspace's id, `workspace_open` with the workspace. */
function workspaceIdOf(raw: unknown): string | null {
  if (typeof raw === "string") return raw;
  return typeof raw === "object" && raw !== null && "id" in raw && typeof raw.id === "string" ? raw.id : null;
}

/** Calls `work` with a promise that resolves after `ms`, and leaves no timer behind. */
async function withDeadline<T>(ms: number, work: (deadline: Promise<void>) => Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const deadline = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  try {
    return await work(deadline);
  } finally {
    clearTimeout(timer);
  }
}
