import { homedir } from "node:os";
import { join } from "node:path";
import { SallyportError } from "../../../errors.ts";
import type { RuntimeCommand, TurnContext, TurnOutcome } from "../runtime.ts";
import { acpLimits } from "./acp-limits.ts";
import { type RunningAgent, runAgent } from "./acp-session.ts";
import type { AcpAgentSpec, AcpRuntimeDeps } from "./agent-spec.ts";
import { AgentRefusal, type AgentRequest, RefuseAgent } from "./connection.ts";
import { readTextFile, writeTextFile } from "./file-calls.ts";
import { mcpServersFor, openWithLogin } from "./handshake.ts";
import { asProblem, problem, sessionUnknown } from "./problem-text.ts";
import { promptBlocks } from "./prompt-blocks.ts";
import { elicit } from "./questions.ts";
import { listOf, objectOf, textOf } from "./raw-values.ts";
import { cancelledOutcome, requestPermission } from "./request-permission.ts";
import { retell } from "./retell.ts";
import { noOptions, readConfigOptions, readSessionOptions, type SessionOptions } from "./session-options.ts";
import { readSessionRecord, removeSessionRecord, writeSessionRecord } from "./session-record.ts";
import { createTerminals } from "./terminals.ts";
import { type AcpTurn, createAcpTurn } from "./turn.ts";
import { createUsageCount } from "./usage-count.ts";

/** One agent of the engine on a process of its own, which is started when it is prompted and again after it ended. */
export interface AcpAgent {
  runTurn(context: TurnContext): Promise<TurnOutcome>;
  readonly commands: readonly RuntimeCommand[];
  readonly busy: boolean;
  readonly running: boolean;
  /** True where nothing is lost when its process is ended. */
  readonly canResume: boolean;
  /** When its last turn ended, in milliseconds of the monotonic clock. */
  readonly idleSinceMs: number;
  /** Ends its process. Resolves when nothing of it is left. */
  stop(): Promise<void>;
  /** Forgets the conversation: the next turn begins a new session. */
  clear(): Promise<void>;
}

export interface AcpAgentOptions {
  readonly id: string;
  readonly runtime: string;
  readonly spec: () => AcpAgentSpec;
  readonly deps: AcpRuntimeDeps;
  readonly note: string;
  readonly onOptions: (options: SessionOptions) => void;
  /** Called before a process is started: makes room for it. Throws `overloaded`. */
  readonly makeRoom: () => Promise<void>;
}

interface OpenSession {
  readonly running: RunningAgent;
  readonly session: string;
  options: SessionOptions;
  /** What was said before, for an agent with an empty memory; sent with the next prompt. */
  preamble: string | null;
  cost: number;
}

export function createAcpAgent(options: AcpAgentOptions): AcpAgent {
  const { deps } = options;
  const sessionsFolder = join(deps.homeFolder, "sessions");
  const terminals = createTerminals({ jobs: deps.jobs, homeFolder: deps.homeFolder, userHome: homedir() });
  let open: OpenSession | null = null;
  let stopping: Promise<void> = Promise.resolve();
  let turn: AcpTurn | null = null;
  let cwd = "";
  let busy = false;
  let noteGiven = false;
  let commands: readonly RuntimeCommand[] = [];
  let idleSinceMs = performance.now();
  let onCommands: () => void = () => undefined;
  let onTurnProblem: (error: unknown) => void = () => undefined;
  /** While a session is loaded, the agent tells the whole conversation again. */
  let loading = false;

  function end(why: string): Promise<void> {
    const ending = open?.running;
    open = null;
    if (ending) {
      ending.connection.close(why);
      stopping = Promise.all([stopping, ending.process.stop()]).then(() => undefined);
    }
    return stopping;
  }

  async function onRequest({ method, params, signal }: AgentRequest): Promise<unknown> {
    const { sessionId } = objectOf(params);
    const current = open;
    if (current && sessionId !== undefined && sessionId !== current.session)
      throw new RefuseAgent(-32602, "There is no such session.");
    // What was told before the request is known before it is answered.
    await current?.running.inbox.settled();
    const desk = turn?.desk ?? null;
    const place = { homeFolder: deps.homeFolder, signal };
    const needTurn = () => {
      if (desk === null || desk.context.signal.aborted)
        throw new RefuseAgent(-32603, "No turn runs that could ask for this.");
      return desk;
    };
    switch (method) {
      case "session/request_permission":
        return desk === null ? cancelledOutcome : requestPermission(params, desk, place);
      case "fs/read_text_file":
        return readTextFile(params, {
          cwd,
          homeFolder: deps.homeFolder,
          mayLeave: (path) => desk?.allowed.reads.has(path) ?? false,
        });
      case "fs/write_text_file":
        return writeTextFile(params, needTurn(), place);
      case "terminal/create":
        return terminals.create(params, needTurn(), signal);
      case "terminal/output":
        return terminals.output(params);
      case "terminal/wait_for_exit":
        return terminals.waitForExit(params, signal);
      case "terminal/kill":
        return terminals.kill(params);
      case "terminal/release":
        return terminals.release(params);
      case "elicitation/create":
        return desk === null ? { action: "cancel" } : elicit(params, desk);
      default:
        throw new RefuseAgent(-32601, `There is no method ${textOf(method, 100) ?? ""}.`);
    }
  }

  async function onNotification(method: string, rawParams: unknown): Promise<void> {
    const { sessionId, update: rawUpdate } = objectOf(rawParams);
    if (method !== "session/update") return;
    const update = objectOf(rawUpdate);
    if (update.sessionUpdate === "available_commands_update") return takeCommands(update.availableCommands);
    if (loading || (open && sessionId !== open.session)) return;
    if (update.sessionUpdate === "config_option_update") await takeConfigOptions(update.configOptions);
    else if (update.sessionUpdate === "current_mode_update") await takeMode(update.currentModeId);
    else await turn?.update(update);
  }

  function takeCommands(raw: unknown): void {
    commands = listOf(raw, acpLimits.commands).flatMap((each) => {
      const { name, description, input } = objectOf(each);
      const found = textOf(name, 100);
      if (found === null || found === "") return [];
      return [
        {
          name: found,
          description: textOf(description, 1_000),
          argumentHint: textOf(objectOf(input).hint, 200),
        },
      ];
    });
    onCommands();
  }

  async function takeConfigOptions(raw: unknown): Promise<void> {
    const changed = open && readConfigOptions(raw);
    if (!open || !changed) return;
    const before = open.options.model;
    open.options = { ...open.options, ...changed };
    options.onOptions(open.options);
    if (changed.model !== before && changed.model !== null)
      await turn?.desk.context.record({ type: "model_changed", model: changed.model });
  }

  async function takeMode(raw: unknown): Promise<void> {
    const mode = textOf(raw, 200);
    if (!open || mode === null || mode === open.options.mode) return;
    open.options = { ...open.options, mode };
    const name = open.options.modes.find(({ id }) => id === mode)?.name ?? mode;
    await turn?.desk.context.record({
      type: "notice",
      message: `${open.running.spec.title} is in its mode "${name}" now.`,
    });
  }

  /** The session of the agent: the one that is open, the one of before, or a new one. */
  async function ensure(context: TurnContext): Promise<OpenSession> {
    if (open && !open.running.connection.lost.aborted) return open;
    await end("it ended");
    context.signal.throwIfAborted();
    await options.makeRoom();
    onCommands = context.commandsChanged;
    const spec = options.spec();
    cwd = context.cwd;
    const running = await runAgent({
      spec,
      cwd,
      deps,
      signal: context.signal,
      onRequest,
      onNotification,
      onError: (error) => onTurnProblem(error),
    });
    try {
      open = await openSession(running, context);
      options.onOptions(open.options);
      return open;
    } catch (error) {
      running.connection.close("its session could not be opened");
      stopping = running.process.stop();
      throw running.problemOf(error);
    }
  }

  async function openSession(running: RunningAgent, context: TurnContext): Promise<OpenSession> {
    const { connection, greeting, spec, redact } = running;
    const base = { cwd, mcpServers: mcpServersFor(deps.mcpServers(), greeting) };
    const how = { connection, greeting, spec, redact, signal: context.signal };
    const kept = await readSessionRecord(sessionsFolder, options.id, deps.report);
    if (kept && kept.runtime === options.runtime && kept.cwd === cwd) {
      const params = { ...base, sessionId: kept.session };
      const ways = [
        ...(greeting.canResumeDirectly ? ["session/resume"] : []),
        ...(greeting.canLoad ? ["session/load"] : []),
      ];
      for (const method of ways) {
        loading = true;
        try {
          const answer = await openWithLogin(how, method, params);
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
          loading = false;
        }
      }
    }
    const answer = await openWithLogin(how, "session/new", base);
    const session = textOf(objectOf(answer).sessionId, 4_096);
    if (session === null || session === "") throw problem(`${spec.title} opened a session without an id.`);
    const preamble = retell(await context.history(), context.turn);
    await writeSessionRecord(sessionsFolder, options.id, {
      version: 1,
      runtime: options.runtime,
      session,
      cwd,
    });
    if (preamble !== null)
      await context.record({
        type: "notice",
        message: `${spec.title} could not open its earlier session again: it begins a new one and is told what was said so far.`,
      });
    return { running, session, options: readSessionOptions(answer) ?? noOptions, preamble, cost: 0 };
  }

  async function chooseModel(current: OpenSession, context: TurnContext): Promise<void> {
    const { connection, spec } = current.running;
    const { model, models, modelOption } = current.options;
    if (context.model === null) {
      if (model !== null) await context.record({ type: "model_changed", model });
      return;
    }
    if (context.model === model) return;
    if (models.length > 0 && !models.some(({ id }) => id === context.model))
      throw problem(
        `${spec.title} has no model ${context.model}. It has: ${models.map(({ id }) => id).join(", ")}`,
      );
    const [method, params] =
      modelOption === null
        ? (["session/set_model", { modelId: context.model }] as const)
        : (["session/set_config_option", { configId: modelOption, value: context.model }] as const);
    const answer = await connection.request(
      method,
      { sessionId: current.session, ...params },
      { timeoutMs: acpLimits.initializeMs, signal: context.signal },
    );
    current.options = {
      ...current.options,
      ...readConfigOptions(objectOf(answer).configOptions),
      model: context.model,
    };
  }

  async function prompt(current: OpenSession, context: TurnContext): Promise<TurnOutcome | "forgotten"> {
    const { connection, greeting, inbox, spec, redact } = current.running;
    const forced = new AbortController();
    let timer: NodeJS.Timeout | undefined;
    let failure: unknown = null;
    const cancel = (): void => {
      if (timer !== undefined) return;
      connection.notify("session/cancel", { sessionId: current.session });
      timer = setTimeout(() => forced.abort(), acpLimits.cancelMs);
    };
    onTurnProblem = (error) => {
      if (context.signal.aborted) return;
      failure ??= error;
      cancel();
    };
    const usage = createUsageCount(current.cost, (cost) => {
      current.cost = cost;
    });
    const mine = createAcpTurn({
      context,
      cwd,
      terminals,
      usage,
      now: deps.now,
      monotonicNow: () => performance.now(),
      redact,
      takeNote() {
        if (noteGiven) return null;
        noteGiven = true;
        return options.note;
      },
      onTooMuch() {
        failure ??= problem(
          `${spec.title} said more than one turn may hold (${acpLimits.turnChars / (1024 * 1024)} MiB); it was ended.`,
        );
        forced.abort();
      },
    });
    turn = mine;
    context.signal.addEventListener("abort", cancel, { once: true });
    if (context.signal.aborted) cancel();
    try {
      const blocks = promptBlocks(context.parts, {
        image: greeting.takesImages,
        embeddedContext: greeting.embeddedContext,
      });
      const before = current.preamble === null ? [] : [{ type: "text", text: current.preamble }];
      const answer = await connection.request(
        "session/prompt",
        { sessionId: current.session, prompt: [...before, ...blocks] },
        { timeoutMs: null, signal: forced.signal },
      );
      current.preamble = null;
      await inbox.settled();
      usage.takeAnswer(answer);
      if (failure !== null) throw failure;
      await terminals.endAll();
      await mine.finish();
      return outcomeOf(textOf(objectOf(answer).stopReason, 100), spec.title);
    } catch (error) {
      if (forced.signal.aborted) void end("it did not end when it was told to");
      if (failure !== null && !context.signal.aborted) throw failure;
      if (context.signal.aborted) return { outcome: "done" };
      if (error instanceof AgentRefusal && error.code === sessionUnknown && !mine.began) return "forgotten";
      await inbox.settled();
      await mine.finish();
      throw error;
    } finally {
      clearTimeout(timer);
      context.signal.removeEventListener("abort", cancel);
      await terminals.endAll();
      turn = null;
      onTurnProblem = () => undefined;
    }
  }

  async function runTurn(context: TurnContext): Promise<TurnOutcome> {
    for (let tries = 0; ; tries += 1) {
      const current = await ensure(context);
      try {
        await chooseModel(current, context);
        const outcome = await prompt(current, context);
        if (outcome !== "forgotten") return outcome;
        if (tries > 0)
          return { outcome: "failed", error: `${current.running.spec.title} does not know its own session.` };
        await end("it forgot its session");
      } catch (error) {
        if (current.running.connection.lost.aborted) {
          // Its last words come with its end.
          await end("it ended");
          if (error instanceof SallyportError) throw error;
          throw asProblem(current.running.connection.lost.reason, {
            spec: current.running.spec,
            redact: current.running.redact,
            errors: current.running.process.errors(),
          });
        }
        throw current.running.problemOf(error);
      }
    }
  }

  return {
    async runTurn(context) {
      busy = true;
      try {
        return await runTurn(context);
      } catch (error) {
        if (context.signal.aborted) return { outcome: "done" };
        throw error;
      } finally {
        busy = false;
        idleSinceMs = performance.now();
      }
    },
    get commands() {
      return commands;
    },
    get busy() {
      return busy;
    },
    get running() {
      return open !== null;
    },
    get canResume() {
      return open?.running.greeting.canResume ?? true;
    },
    get idleSinceMs() {
      return idleSinceMs;
    },
    stop: () => end("it was ended"),
    async clear() {
      await removeSessionRecord(sessionsFolder, options.id);
      await end("its conversation was cleared");
    },
  };
}

function outcomeOf(stopReason: string | null, title: string): TurnOutcome {
  switch (stopReason) {
    case "end_turn":
      return { outcome: "done" };
    case "max_tokens":
      return { outcome: "failed", error: `${title} stopped: its model reached the limit of tokens.` };
    case "max_turn_requests":
      return { outcome: "failed", error: `${title} stopped: it reached its limit of requests in one turn.` };
    case "refusal":
      return { outcome: "failed", error: `${title} refused to go on.` };
    case "cancelled":
      return { outcome: "failed", error: `${title} cancelled the turn by itself.` };
    default:
      return { outcome: "failed", error: `${title} ended the turn without a known reason.` };
  }
}
