import { findProgram } from "../../../lib/find-program.ts";
import { jobEnvironment } from "../../jobs/check-spec.ts";
import { acpLimits } from "./acp-limits.ts";
import { type AgentProcess, startAgentProcess } from "./agent-process.ts";
import type { AcpAgentSpec, AcpRuntimeDeps, LoginWays } from "./agent-spec.ts";
import { type AgentRequest, type Connection, connectAgent, NoAnswer } from "./connection.ts";
import { type Greeting, initialize } from "./handshake.ts";
import { createInbox, type Inbox } from "./inbox.ts";
import { asProblem, missingProgram, problem } from "./problem-text.ts";
import { createRedact, type Redact } from "./redact.ts";

/** An agent's process that said hello. */
export interface RunningAgent {
  readonly spec: AcpAgentSpec;
  readonly process: AgentProcess;
  readonly connection: Connection;
  readonly greeting: Greeting;
  readonly inbox: Inbox;
  readonly redact: Redact;
  /** What went wrong, in words for a person. */
  problemOf(error: unknown): unknown;
}

export interface RunOptions {
  readonly spec: AcpAgentSpec;
  readonly cwd: string;
  readonly deps: Pick<AcpRuntimeDeps, "environment">;
  readonly signal: AbortSignal;
  readonly onRequest: (request: AgentRequest) => Promise<unknown>;
  /** In the order in which they came, one after the other. */
  readonly onNotification: (method: string, params: unknown) => Promise<void>;
  readonly onError: (error: unknown) => void;
}

/** Starts an agent in a folder and says hello. What it throws is in words for a person; nothing is left running then. */
export async function runAgent(options: RunOptions): Promise<RunningAgent> {
  const { spec, signal } = options;
  const environment = { ...jobEnvironment(options.deps.environment), ...jobEnvironment(spec.env) };
  const redact = createRedact(environment, spec.secrets);
  const program = findProgram(spec.command, environment.PATH);
  if (program === null) throw missingProgram(spec);
  signal.throwIfAborted();
  const process = await startAgentProcess({
    words: [program, ...spec.args],
    cwd: options.cwd,
    environment,
  }).catch((error: NodeJS.ErrnoException) => {
    throw problem(`${spec.title} cannot be started (${error.code ?? "unknown error"}).`);
  });
  let connection: Connection | null = null;
  const isFull = (): boolean =>
    inbox.waiting > acpLimits.waitingMessages || inbox.waitingBytes > acpLimits.waitingBytes;
  const inbox = createInbox(options.onError, () => connection?.hold(isFull()));
  let ways: LoginWays | null = null;
  const problemOf = (error: unknown): unknown =>
    asProblem(error, { spec, redact, errors: process.errors(), ways });
  try {
    connection = await connectAgent(process, {
      onRequest: options.onRequest,
      onNotification(method, params, bytes) {
        inbox.push(() => options.onNotification(method, params), bytes);
        if (isFull()) connection?.hold(true);
      },
    });
    const greeting = await initialize(connection, spec, signal);
    ways = greeting;
    return { spec, process, connection, greeting, inbox, redact, problemOf };
  } catch (error) {
    // What an end of our making brings about is none of its words.
    const known = error instanceof NoAnswer || signal.aborted ? problemOf(error) : null;
    connection?.close("it was ended");
    await process.stop();
    throw known ?? problemOf(error);
  }
}
