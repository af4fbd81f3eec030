import type { AgentProcess } from "./agent-process.ts";
import { createMessageStream } from "./message-stream.ts";

/** What an agent answered to a request that it refused. */
export class AgentRefusal extends Error {
  readonly code: number;
  readonly data: unknown;
  constructor(code: number, message: string, data: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/** The connection is over: the process ended, or the agent broke the rules. `message` says so in a phrase. */
export class ConnectionLost extends Error {}

/** It did not answer in time. */
export class NoAnswer extends Error {}

/** What a handler throws to refuse a request of the agent: a JSON-RPC error with a message for the agent. */
export class RefuseAgent extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

export interface AgentRequest {
  readonly method: string;
  readonly params: unknown;
  /** Aborts when the agent takes the request back, or the connection is over. */
  readonly signal: AbortSignal;
}

export interface ConnectionHandlers {
  /** Answers a request. What it throws that is no `RefuseAgent` is answered as an internal error, without its text. */
  onRequest(request: AgentRequest): Promise<unknown>;
  /** `bytes` is its length on the wire. */
  onNotification(method: string, params: unknown, bytes: number): void;
}

export interface Connection {
  /**
   * Sends a request and waits for its answer. `timeoutMs` null: for ever. Rejects with `AgentRefusal`, `NoAnswer`,
   * `ConnectionLost`, or the reason of `signal`.
   */
  request(
    method: string,
    params: unknown,
    options: { readonly timeoutMs: number | null; readonly signal?: AbortSignal },
  ): Promise<unknown>;
  notify(method: string, params: unknown): void;
  /** Reading from the agent rests while it holds. */
  hold(held: boolean): void;
  /** Aborts when the connection is over; the reason is a `ConnectionLost`. */
  readonly lost: AbortSignal;
  /** Ends the connection; the process is ended by its owner. */
  close(problem: string): void;
}

/** JSON-RPC with an agent over its stdin and stdout, by the SDK, which is loaded when the first agent starts. */
export async function connectAgent(agent: AgentProcess, handlers: ConnectionHandlers): Promise<Connection> {
  const sdk = await import("@agentclientprotocol/sdk");
  const lost = new AbortController();
  const close = (problem: string): void => {
    if (lost.signal.aborted) return;
    lost.abort(new ConnectionLost(problem));
    messages.close();
    connection.close(lost.signal.reason);
  };
  const messages = createMessageStream({
    input: agent.input,
    output: agent.output,
    onNotification: handlers.onNotification,
    onBroken: close,
  });

  const connection = sdk
    .client({ name: "sallyport" })
    .onRequest("*", async ({ method, params, signal }) => {
      try {
        return await handlers.onRequest({ method, params, signal });
      } catch (error) {
        if (error instanceof RefuseAgent) throw new sdk.RequestError(error.code, error.message);
        throw new sdk.RequestError(-32603, "Internal error");
      }
    })
    .onNotification("*", () => undefined)
    .connect(messages.stream);
  void connection.closed.then(() => close("it closed the connection"));
  void agent.gone.then((status) => close(endText(status)));
  void agent.deaf.then((pipe) => close(`it closed its ${pipe}`));

  async function request(
    method: string,
    params: unknown,
    { timeoutMs, signal }: { readonly timeoutMs: number | null; readonly signal?: AbortSignal },
  ): Promise<unknown> {
    lost.signal.throwIfAborted();
    signal?.throwIfAborted();
    const end = new AbortController();
    const finished = new AbortController();
    const timer =
      timeoutMs === null
        ? undefined
        : setTimeout(() => end.abort(new NoAnswer(`no answer to ${method}`)), timeoutMs);
    const givenUp = new Promise<never>((_resolve, reject) => {
      for (const each of [end.signal, lost.signal, ...(signal ? [signal] : [])])
        each.addEventListener("abort", () => reject(each.reason), { once: true, signal: finished.signal });
    });
    try {
      return await Promise.race([connection.agent.request(method, params), givenUp]);
    } catch (error) {
      if (error instanceof sdk.RequestError) throw new AgentRefusal(error.code, error.message, error.data);
      throw lost.signal.aborted ? lost.signal.reason : error;
    } finally {
      clearTimeout(timer);
      finished.abort();
    }
  }

  return {
    request,
    notify(method, params) {
      // When the connection is over there is nobody to tell.
      connection.agent.notify(method, params).catch(() => undefined);
    },
    hold: messages.hold,
    lost: lost.signal,
    close,
  };
}

function endText(status: number | null): string {
  if (status === null) return "its process was killed";
  if (status === 127) return "its program could not be run";
  if (status > 128) return `its process was ended by signal ${status - 128}`;
  return `its process ended (exit status ${status})`;
}
