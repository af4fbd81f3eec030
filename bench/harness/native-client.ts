import { once } from "node:events";
import { WebSocket } from "ws";

type Message = Readonly<Record<string, unknown>> & { readonly type: string };

/** A client of the native socket, or of a bare one that answers in its way: one question at a time. */
export interface NativeClient {
  /** Sends a command and resolves with its reply; rejects on an error. */
  ask(command: Readonly<Record<string, unknown>>): Promise<Message>;
  /** The next message that fits. */
  next(fits: (message: Message) => boolean): Promise<Message>;
  close(): void;
}

export async function openNativeClient(url: string, token: string | null): Promise<NativeClient> {
  const socket = new WebSocket(url, {
    perMessageDeflate: false,
    ...(token === null ? {} : { headers: { authorization: `Bearer ${token}` } }),
  });
  const waiting = new Set<{ fits: (message: Message) => boolean; resolve: (message: Message) => void }>();
  socket.on("message", (data) => {
    const message = JSON.parse(String(data)) as Message;
    for (const wait of waiting)
      if (wait.fits(message)) {
        waiting.delete(wait);
        wait.resolve(message);
      }
  });
  await once(socket, "open");
  let asked = 0;
  const next = (fits: (message: Message) => boolean) =>
    new Promise<Message>((resolve) => {
      waiting.add({ fits, resolve });
    });
  return {
    next,
    async ask(command) {
      const ref = `c${++asked}`;
      const replied = next((message) => message.client_ref === ref);
      socket.send(JSON.stringify({ ...command, client_ref: ref }));
      const reply = await replied;
      if (reply.type === "error") throw new Error(JSON.stringify(reply));
      return reply;
    },
    close: () => socket.terminate(),
  };
}

export interface StartedJob {
  readonly id: string;
  /** Resolves with the job when it has ended. */
  readonly finished: Promise<{ readonly state: string; readonly exit_code: number | null }>;
}

/** Starts a job in the first tab. */
export async function startJob(client: NativeClient, command: string): Promise<StartedJob> {
  let id: string | null = null;
  const ended = new Map<string, StartedJob["finished"] extends Promise<infer J> ? J : never>();
  // Listened for before it is started: a short job may end before its reply was seen.
  const finished = client.next((message) => {
    if (message.type !== "job_finished") return false;
    const job = message.job as { id: string; state: string; exit_code: number | null };
    ended.set(job.id, job);
    return id === null || job.id === id;
  });
  const { job } = await client.ask({ type: "job_start", command });
  id = (job as { id: string }).id;
  const own = id;
  return { id, finished: finished.then(() => ended.get(own) ?? { state: "unknown", exit_code: null }) };
}
