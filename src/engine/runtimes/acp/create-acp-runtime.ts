import { SallyportError } from "../../../errors.ts";
import { type AcpAgent, createAcpAgent } from "./acp-agent.ts";
import { acpLimits } from "./acp-limits.ts";
import { runAgent } from "./acp-session.ts";
import type { AcpAgentSpec, AcpRuntime, AcpRuntimeDeps } from "./agent-spec.ts";
import { compactSession } from "./compact-session.ts";
import { RefuseAgent } from "./connection.ts";
import { openWithLogin } from "./handshake.ts";
import { createKnownOptions } from "./known-options.ts";
import { readSessionOptions } from "./session-options.ts";

const lookMs = 60_000;

const tools: NonNullable<AcpRuntime["tools"]> = [
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
];

/** What its own process does is its own business: said where it asks for the first time, and on its tabs. */
function noteFor(title: string): string {
  return `${title} is a program of its own. Sallyport's rules and questions cover what it asks for; what it does inside its own process, and what the folder makes it run when a session opens, they do not.`;
}

/**
 * An ACP agent as a runtime: each agent of the engine has a process of its own.
 *
 * @param spec how it is started, read anew each time; throws `SallyportError` when it is not configured any more
 */
export function createAcpRuntime(name: string, spec: () => AcpAgentSpec, deps: AcpRuntimeDeps): AcpRuntime {
  const agents = new Map<string, AcpAgent>();
  const ending = new Set<Promise<void>>();
  const known = createKnownOptions(deps.homeFolder, name, deps.report);
  const note = noteFor(titleOf(spec, name));
  let learnedMs: number | null = null;
  let learning: Promise<void> | null = null;
  let closed = false;

  const idleTimer = setInterval(() => {
    for (const agent of agents.values()) if (mayRest(agent)) void stop(agent);
  }, lookMs);
  idleTimer.unref();

  function mayRest(agent: AcpAgent): boolean {
    const idleMs = performance.now() - agent.idleSinceMs;
    return agent.running && !agent.busy && agent.canResume && idleMs > acpLimits.idleMs;
  }

  function stop(agent: AcpAgent): Promise<void> {
    const stopped = agent.stop().finally(() => ending.delete(stopped));
    ending.add(stopped);
    return stopped;
  }

  async function makeRoom(): Promise<void> {
    if (closed) throw new SallyportError("overloaded", "The daemon is stopping.");
    const running = [...agents.values()].filter((each) => each.running);
    if (running.length < acpLimits.processes) return;
    const [oldest] = running
      .filter((each) => !each.busy)
      .sort(
        (one, other) =>
          Number(other.canResume) - Number(one.canResume) || one.idleSinceMs - other.idleSinceMs,
      );
    if (!oldest)
      throw new SallyportError(
        "overloaded",
        `${acpLimits.processes} agents run already; try again when one has ended its turn.`,
      );
    await stop(oldest);
  }

  function agentFor(id: string): AcpAgent {
    const agent =
      agents.get(id) ??
      createAcpAgent({
        id,
        runtime: name,
        spec,
        deps,
        note,
        onOptions(options) {
          learnedMs = performance.now();
          if (options.models.length > 0) known.take(options);
        },
        makeRoom,
      });
    agents.set(id, agent);
    return agent;
  }

  /** Opens a session that nobody uses, to see what it lets one choose. */
  async function learn(cwd: string): Promise<void> {
    const signal = AbortSignal.timeout(acpLimits.sessionMs);
    const running = await runAgent({
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
    try {
      const { connection, greeting, redact } = running;
      const how = { connection, greeting, spec: running.spec, redact, signal };
      const options = readSessionOptions(await openWithLogin(how, "session/new", { cwd, mcpServers: [] }));
      learnedMs = performance.now();
      known.take(options);
    } catch (error) {
      throw running.problemOf(error);
    } finally {
      running.connection.close("it was only asked what it can do");
      await running.process.stop();
    }
  }

  return {
    name,
    needsTrust: true,
    takesModel: true,
    note,
    tools,
    commands: (agent) => agents.get(agent)?.commands ?? [],
    models() {
      const { models = [], thinkingLevels: thinking = [] } = known.get() ?? {};
      return models.map(({ id, name: shown, contextTokens }) => ({
        id,
        runtime: name,
        name: shown,
        context_tokens: contextTokens,
        ...(thinking.length === 0 ? {} : { thinking: [...thinking] }),
      }));
    },
    chooseModel(model) {
      const found = known.get();
      if (model === null) return found?.model ?? null;
      if (found && !found.models.some(({ id }) => id === model))
        throw noSuch(
          "model",
          "model",
          found.models.map(({ id }) => id),
        );
      return model;
    },
    chooseThinking(thinking) {
      const levels = known.get()?.thinkingLevels ?? [];
      if (!levels.includes(thinking)) throw noSuch("thinking", "level", levels);
      return thinking;
    },
    async learnModels(cwd, model) {
      if (known.get()?.models.some(({ id }) => id === model)) return;
      if (learnedMs !== null && performance.now() - learnedMs < lookMs) return;
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
    compact: (context) => compactSession(context, agentFor(context.agent), titleOf(spec, name)),
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
}

function noSuch(field: string, what: string, there: readonly string[]): SallyportError {
  const are = there.length === 0 ? "there is none to choose" : `there are: ${there.join(", ")}`;
  return new SallyportError("invalid_field", `There is no such ${what}; ${are}.`, { field });
}

function titleOf(spec: () => AcpAgentSpec, name: string): string {
  try {
    return spec().title;
  } catch {
    // Not installed or configured now; it may be when it is prompted.
    return name;
  }
}
