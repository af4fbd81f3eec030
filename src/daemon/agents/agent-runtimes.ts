import type { Config } from "../../config/config.ts";
import { type Credentials, CredentialsError, loadCredentials } from "../../config/credentials.ts";
import { knownAgent } from "../../config/known-agents.ts";
import type { AcpRuntime, AcpRuntimeDeps, CreateAcpRuntime } from "../../engine/runtimes/acp/agent-spec.ts";
import { hideSecrets } from "../../engine/runtimes/hide-secrets.ts";
import type { RuntimeSource } from "../../engine/runtimes/registry.ts";
import type { Runtime, TurnContext, TurnOutcome } from "../../engine/runtimes/runtime.ts";
import { SallyportError } from "../../errors.ts";
import { aboutAgent, type LastUse } from "./about-agent.ts";
import { keptSecrets, keySource, writtenSecrets } from "./agent-keys.ts";
import { agentSpec, mcpServerSpecs } from "./agent-spec.ts";
import { type FoundAgent, findAgents } from "./find-agents.ts";

export interface AgentRuntimesOptions extends Omit<AcpRuntimeDeps, "mcpServers"> {
  readonly config: () => Config;
  readonly credentialsPath: string;
  readonly create: CreateAcpRuntime;
  /** A secret that must be in no line of the log. */
  readonly protect: (secret: string) => void;
  readonly monotonicNow: () => number;
}

export interface AgentRuntimes extends RuntimeSource {
  /** Ends what runs, also of agents that can no longer be chosen. */
  close(): Promise<void>;
}

/** Programs come and go seldom; a list that is asked for often must not search the disk each time. */
const lookAgainMs = 5_000;

/**
 * The agents of the configuration and of this machine as runtimes. Nothing is searched before somebody asks, and nothing
 * is started before it is prompted. Settings and keys are read anew at each start.
 */
export function createAgentRuntimes(options: AgentRuntimesOptions): AgentRuntimes {
  const { environment } = options;
  const made = new Map<string, { readonly runtime: Runtime; readonly close: AcpRuntime["close"] }>();
  /** Keys as they were read, also those that were changed since: a running agent still has them. */
  const kept = new Set<string>();
  const lastUses = new Map<string, LastUse>();
  let seen: { readonly config: Config; readonly atMs: number; readonly found: readonly FoundAgent[] } | null =
    null;

  function search(): readonly FoundAgent[] {
    const config = options.config();
    const found = findAgents({ config, environment });
    seen = { config, atMs: options.monotonicNow(), found };
    return found;
  }
  function found(): readonly FoundAgent[] {
    const isFresh =
      seen !== null && seen.config === options.config() && options.monotonicNow() - seen.atMs < lookAgainMs;
    return isFresh && seen !== null ? seen.found : search();
  }

  /** Throws `not_supported` for a file that cannot be used. */
  function credentials(): Credentials {
    try {
      const read = loadCredentials(options.credentialsPath);
      for (const secret of keptSecrets(read)) {
        kept.add(secret);
        options.protect(secret);
      }
      return read;
    } catch (error) {
      if (!(error instanceof CredentialsError)) throw error;
      throw new SallyportError("not_supported", error.message, { field: "runtime" });
    }
  }

  function spec(name: string) {
    const agent = search().find((each) => each.name === name);
    if (agent === undefined || agent.path === null)
      throw new SallyportError("not_supported", explainMissing(name, agent), { field: "runtime" });
    return agentSpec(agent, { credentials: credentials(), environment });
  }

  function explainMissing(name: string, agent: FoundAgent | undefined): string {
    if (agent !== undefined) {
      const { message, next } = aboutAgent(agent, null, null);
      return `${agent.title} cannot run: ${message} ${next}`;
    }
    const known = knownAgent({ name });
    return known === null
      ? `The agent ${name} is not in config.toml any more. Put it back: [agents.${name}] with command and args.`
      : `${known.title} is not installed here (${known.install}).`;
  }

  function about(name: string) {
    const agent = found().find((each) => each.name === name) ?? gone(name);
    let source: string | null = null;
    try {
      source = keySource(agent, loadCredentials(options.credentialsPath), environment);
    } catch (error) {
      if (!(error instanceof CredentialsError)) throw error;
      // It could not be started now, whatever it did before.
      return aboutAgent(agent, { ok: false, error: error.message }, null);
    }
    return aboutAgent(agent, lastUses.get(name) ?? null, source);
  }

  function runtimeOf(name: string): Runtime {
    const before = made.get(name);
    if (before) return before.runtime;
    const acp = options.create(name, () => spec(name), {
      ...options,
      mcpServers: () => mcpServerSpecs(options.config(), credentials()),
    });
    const secrets = (): readonly string[] => [...kept, ...writtenSecrets(options.config(), environment)];
    const silent = hideSecrets(acp, secrets);
    async function runTurn(context: TurnContext): Promise<TurnOutcome> {
      try {
        const outcome = await silent.runTurn(context);
        // One that refuses, or whose model has said enough, works.
        if (!context.signal.aborted) lastUses.set(name, { ok: true });
        return outcome;
      } catch (error) {
        // A full disk, or too much at the same time, is no fault of it.
        if (error instanceof SallyportError && error.code === "not_supported")
          lastUses.set(name, { ok: false, error: error.message });
        throw error;
      }
    }
    const runtime: Runtime = {
      ...silent,
      runTurn,
      about: () => about(name),
    };
    made.set(name, { runtime, close: acp.close });
    return runtime;
  }

  return {
    list: () => found().map(({ name }) => runtimeOf(name)),
    find(name) {
      const agent =
        name === "acp"
          ? found().find(({ path }) => path !== null)
          : found().find((each) => each.name === name);
      return agent ? runtimeOf(agent.name) : (made.get(name)?.runtime ?? null);
    },
    explain(name) {
      if (name === "acp") return addAgentText;
      const known = knownAgent({ name });
      return known === null ? null : `${explainMissing(name, undefined)} ${orConfigure}`;
    },
    addAgent: () => (found().some(({ path }) => path !== null) ? null : addAgentText),
    async close() {
      await Promise.all([...made.values()].map(async ({ close }) => close?.()));
    },
  };
}

const orConfigure = "Or name another one in config.toml: [agents.NAME] with command and args.";
const addAgentText = `No coding agent is set up here, so prompts are run as command lines. Install one (for example: npm install -g @google/gemini-cli, or @qwen-code/qwen-code), and it is found by itself. ${orConfigure}`;

function gone(name: string): FoundAgent {
  const known = knownAgent({ name });
  return {
    name,
    title: known?.title ?? name,
    source: "config",
    command: name,
    path: null,
    args: [],
    env: {},
    known,
  };
}
