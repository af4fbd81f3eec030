import { SallyportError } from "../../../errors.ts";
import type { Runtime } from "../runtime.ts";
import { type AcpAgent, createAcpAgent } from "./acp-agent.ts";
import { acpLimits } from "./acp-limits.ts";
import { runAgent } from "./acp-session.ts";
import type { AcpAgentInfo, AcpAgentSpec, AcpRuntime, AcpRuntimeDeps } from "./agent-spec.ts";
import { RefuseAgent } from "./connection.ts";
import { mcpServersFor, openWithLogin } from "./handshake.ts";
import { readSessionOptions, type SessionOptions } from "./session-options.ts";

const idleLookMs = 60_000;

/** What its own process does is its own business; said where it asks for the first time, and on its tabs. */
export function noteFor(title: string): string {
  return `${title} is a program of its own. Sallyport's rules and this question cover what it asks for; what it does inside its own process, and what the folder makes it run when a session opens, they do not.`;
}

/**
 * An ACP agent as a runtime: each agent of the engine has a process of its own.
 *
 * @param spec how it is started, read anew each time; throws `SallyportError` when it is not configured any more
 */
export function createAcpRuntime(name: string, spec: () => AcpAgentSpec, deps: AcpRuntimeDeps): AcpRuntime {
  const agents = new Map<string, AcpAgent>();
  const ending = new Set<Promise<void>>();
  let known: SessionOptions | null = null;
  let learnedMs: number | null = null;
  let learning: Promise<void> | null = null;
  let closed = false;
  const note = noteFor(titleOf(spec, name));

  function stop(agent: AcpAgent): Promise<void> {
    const stopped = agent.stop().finally(() => ending.delete(stopped));
    ending.add(stopped);
    return stopped;
  }

  function takeOptions(options: SessionOptions): void {
    if (options.models.length > 0) known = options;
    learnedMs = performance.now();
  }

  async function makeRoom(): Promise<void> {
    if (closed) throw new SallyportError("overloaded", "The daemon is stopping.");
    if ([...agents.values()].filter((each) => each.running).length < acpLimits.processes) return;
    const idle = [...agents.values()]
      .filter((each) => each.running && !each.busy)
      .sort(
        (one, other) =>
          Number(other.canResume) - Number(one.canResume) || one.idleSinceMs - other.idleSinceMs,
      );
    const [oldest] = idle;
    if (!oldest)
      throw new SallyportError(
        "overloaded",
        `${acpLimits.processes} agents run already; try again when one has ended its turn.`,
      );
    await stop(oldest);
  }

  const idleTimer = setInterval(() => {
    for (const agent of agents.values())
      if (
        agent.running &&
        !agent.busy &&
        agent.canResume &&
        performance.now() - agent.idleSinceMs > acpLimits.idleMs
      )
        void stop(agent);
  }, idleLookMs);
  idleTimer.unref();

  function agentFor(id: string): AcpAgent {
    const found = agents.get(id);
    if (found) return found;
    const agent = createAcpAgent({
      id,
      runtime: name,
      spec,
      deps,
      note,
      onOptions: takeOptions,
      makeRoom,
    });
    agents.set(id, agent);
    return agent;
  }

  function ask(cwd: string, signal: AbortSignal) {
    return runAgent({
      spec: spec(),
      cwd,
      deps,
      signal,
      onRequest: async () => {
        throw new RefuseAgent(-32601, "This agent is only asked what it can do.");
      },
      onNotification: async () => undefined,
      onError: () => undefined,
    });
  }

  /** Opens a session that nobody uses, to see what it lets one choose. */
  async function learn(cwd: string): Promise<void> {
    const signal = AbortSignal.timeout(acpLimits.sessionMs);
    const running = await ask(cwd, signal);
    try {
      const { connection, greeting, redact } = running;
      const answer = await openWithLogin(
        { connection, greeting, spec: running.spec, redact, signal },
        "session/new",
        {
          cwd,
          mcpServers: mcpServersFor([], greeting),
        },
      );
      takeOptions(readSessionOptions(answer));
    } catch (error) {
      throw running.problemOf(error);
    } finally {
      running.connection.close("it was only asked what it can do");
      await running.process.stop();
    }
  }

  const runtime: Runtime = {
    name,
    needsTrust: true,
    takesModel: true,
    note,
    tools: [
      {
        name: "bash",
        kind: "execute",
        description: "Commands that the agent runs in a terminal of Sallyport, or asks to run.",
      },
      {
        name: "edit",
        kind: "edit",
        description: "Files that the agent writes through Sallyport, or asks to write.",
      },
      { name: "read", kind: "safe", description: "Text files of the tab's folder." },
    ],
    commands: (agent) => agents.get(agent)?.commands ?? [],
    models: () =>
      (known?.models ?? []).map(({ id, name: shown, contextTokens }) => ({
        id,
        runtime: name,
        name: shown,
        context_tokens: contextTokens,
      })),
    chooseModel(model) {
      if (model === null) return known?.model ?? null;
      if (known && !known.models.some(({ id }) => id === model))
        throw new SallyportError(
          "invalid_field",
          `There is no such model; there are: ${known.models.map(({ id }) => id).join(", ")}.`,
          { field: "model" },
        );
      return model;
    },
    async learnModels(cwd, model) {
      if (known?.models.some(({ id }) => id === model)) return;
      if (learnedMs !== null && performance.now() - learnedMs < idleLookMs) return;
      learning ??= learn(cwd).finally(() => {
        learning = null;
      });
      await learning;
    },
    checkPrompt(prompt) {
      if (prompt.text.trim() === "" && prompt.images === 0 && prompt.attachments === 0)
        throw new SallyportError("invalid_field", "There is nothing in this prompt.", { field: "text" });
    },
    runTurn: (context) => agentFor(context.agent).runTurn(context),
    clear: (id) => agentFor(id).clear(),
    release(id) {
      const agent = agents.get(id);
      agents.delete(id);
      if (agent) void stop(agent);
    },
    async close() {
      closed = true;
      clearInterval(idleTimer);
      for (const agent of agents.values()) void stop(agent);
      agents.clear();
      await Promise.all(ending);
    },
  };

  return {
    ...runtime,
    async probe(signal): Promise<AcpAgentInfo> {
      const running = await ask("/", signal);
      running.connection.close("it was only asked how it is");
      await running.process.stop();
      const { agent, version, canResume, takesImages, authMethods } = running.greeting;
      return { agent, version, canResume, takesImages, authMethods };
    },
  };
}

function titleOf(spec: () => AcpAgentSpec, name: string): string {
  try {
    return spec().title;
  } catch {
    // Not installed or configured now; it may be when it is prompted.
    return name;
  }
}
