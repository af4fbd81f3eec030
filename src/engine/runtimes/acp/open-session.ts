import { join } from "node:path";
import type { TurnContext } from "../runtime.ts";
import { acpLimits } from "./acp-limits.ts";
import type { RunningAgent } from "./acp-session.ts";
import type { AcpRuntimeDeps } from "./agent-spec.ts";
import { AgentRefusal } from "./connection.ts";
import { mcpServersFor, openWithLogin } from "./handshake.ts";
import { problem } from "./problem-text.ts";
import { objectOf, textOf } from "./raw-values.ts";
import { retell } from "./retell.ts";
import { readConfigOptions, readSessionOptions, type SessionOptions } from "./session-options.ts";
import { readSessionRecord, writeSessionRecord } from "./session-record.ts";

/** A session of a running agent. */
export interface OpenSession {
  readonly running: RunningAgent;
  /** The agent's own id of it. */
  readonly session: string;
  options: SessionOptions;
  /** What was said before, for an agent with an empty memory; sent with the next prompt. */
  preamble: string | null;
  /** What it has cost so far, as the agent tells it. */
  cost: number;
}

export interface OpenSessionOptions {
  readonly agent: string;
  readonly runtime: string;
  readonly cwd: string;
  readonly deps: AcpRuntimeDeps;
  /** True while the agent tells an old conversation again, which is in the transcript already. */
  readonly setLoading: (loading: boolean) => void;
}

/** Opens the session that the agent had, in the ways that it knows, or a new one, which is told what was said so far. */
export async function openSession(
  running: RunningAgent,
  context: TurnContext,
  options: OpenSessionOptions,
): Promise<OpenSession> {
  const { connection, greeting, spec, redact } = running;
  const { cwd, deps, runtime } = options;
  const sessionsFolder = join(deps.homeFolder, "sessions");
  const base = { cwd, mcpServers: mcpServersFor(deps.mcpServers(), greeting) };
  const how = { connection, greeting, spec, redact, signal: context.signal };
  const kept = await readSessionRecord(sessionsFolder, options.agent, deps.report);
  if (kept && kept.runtime === runtime && kept.cwd === cwd) {
    const ways = [
      ...(greeting.canResumeDirectly ? ["session/resume"] : []),
      ...(greeting.canLoad ? ["session/load"] : []),
    ];
    for (const method of ways) {
      options.setLoading(true);
      try {
        const answer = await openWithLogin(how, method, { ...base, sessionId: kept.session });
        await running.inbox.settled();
        return {
          running,
          session: kept.session,
          options: readSessionOptions(answer),
          preamble: null,
          cost: 0,
        };
      } catch (error) {
        // It does not know the session any more, or cannot do what it promised: the next way, then a new session.
        if (!(error instanceof AgentRefusal)) throw error;
      } finally {
        options.setLoading(false);
      }
    }
  }
  const answer = await openWithLogin(how, "session/new", base);
  const session = textOf(objectOf(answer).sessionId, 4_096);
  if (session === null || session === "") throw problem(`${spec.title} opened a session without an id.`);
  const preamble = retell(await context.history(), context.turn);
  await writeSessionRecord(sessionsFolder, options.agent, { version: 1, runtime, session, cwd });
  if (preamble !== null)
    await context.record({
      type: "notice",
      message: `${spec.title} could not open its earlier session again: it begins a new one and is told what was said so far.`,
    });
  return { running, session, options: readSessionOptions(answer), preamble, cost: 0 };
}

/** Lets the session use the model and the level of thinking that the agent of the engine has. */
export async function applyChoices(current: OpenSession, context: TurnContext): Promise<void> {
  const { spec } = current.running;
  const { model, models, modelOption, thinking, thinkingOption } = current.options;
  if (context.model === null) {
    if (model !== null) await context.record({ type: "model_changed", model });
  } else if (context.model !== model) {
    if (models.length > 0 && !models.some(({ id }) => id === context.model))
      throw problem(
        `${spec.title} has no model ${context.model}. It has: ${models.map(({ id }) => id).join(", ")}`,
      );
    if (modelOption === null) await choose(current, context, "session/set_model", { modelId: context.model });
    else await setOption(current, context, modelOption, context.model);
    current.options = { ...current.options, model: context.model };
  }
  if (context.thinking === null || thinkingOption === null || context.thinking === thinking) return;
  await setOption(current, context, thinkingOption, context.thinking);
  current.options = { ...current.options, thinking: context.thinking };
}

async function setOption(
  current: OpenSession,
  context: TurnContext,
  configId: string,
  value: string,
): Promise<void> {
  const answer = await choose(current, context, "session/set_config_option", { configId, value });
  const changed = readConfigOptions(objectOf(answer).configOptions);
  current.options = { ...current.options, ...changed };
}

function choose(
  current: OpenSession,
  context: TurnContext,
  method: string,
  params: Readonly<Record<string, string>>,
): Promise<unknown> {
  return current.running.connection.request(
    method,
    { sessionId: current.session, ...params },
    { timeoutMs: acpLimits.initializeMs, signal: context.signal },
  );
}
