import { homedir } from "node:os";
import { join } from "node:path";
import { SallyportError } from "../../../errors.ts";
import type { RuntimeCommand, TurnContext, TurnOutcome } from "../runtime.ts";
import { acpLimits } from "./acp-limits.ts";
import { runAgent } from "./acp-session.ts";
import { answerAgent, asAgentRefusal } from "./agent-requests.ts";
import type { AcpAgentSpec, AcpRuntimeDeps } from "./agent-spec.ts";
import { type AgentRequest, RefuseAgent } from "./connection.ts";
import { applyChoices, type OpenSession, openSession } from "./open-session.ts";
import { problem } from "./problem-text.ts";
import { promptSession } from "./prompt-session.ts";
import { listOf, objectOf, textOf } from "./raw-values.ts";
import { readConfigOptions, type SessionOptions } from "./session-options.ts";
import { removeSessionRecord } from "./session-record.ts";
import { createTerminals } from "./terminals.ts";
import type { AcpTurn } from "./turn.ts";

/** One agent of the engine on a process of its own, which is started when it is prompted and again after it ended. */
export interface AcpAgent {
  /** Starts its process and opens its session, where that is not done. */
  ensure(context: TurnContext): Promise<unknown>;
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
  /** Said with the first request of the agent. */
  readonly note: string;
  readonly onOptions: (options: SessionOptions) => void;
  /** Called before a process is started: makes room for it. Throws `overloaded`. */
  readonly makeRoom: () => Promise<void>;
}

export function createAcpAgent(options: AcpAgentOptions): AcpAgent {
  const { deps } = options;
  const sessionsFolder = join(deps.homeFolder, "sessions");
  const terminals = createTerminals({
    jobs: deps.jobs,
    homeFolder: deps.homeFolder,
    userHome: homedir(),
  });
  let open: OpenSession | null = null;
  let stopping: Promise<void> = Promise.resolve();
  let turn: AcpTurn | null = null;
  let failTurn: (error: unknown) => void = () => undefined;
  let cwd = "";
  let place = { workspace: "", tab: "" };
  let busy = false;
  let noteGiven = false;
  let loading = false;
  let commands: readonly RuntimeCommand[] = [];
  let onCommands: () => void = () => undefined;
  let idleSinceMs = performance.now();

  function end(why: string): Promise<void> {
    const ending = open?.running;
    open = null;
    if (ending) {
      ending.connection.close(why);
      stopping = Promise.all([stopping, ending.process.stop()]).then(() => undefined);
    }
    return stopping;
  }

  async function onRequest(request: AgentRequest): Promise<unknown> {
    try {
      const { sessionId } = objectOf(request.params);
      const current = open;
      if (current && sessionId !== undefined && sessionId !== current.session)
        throw new RefuseAgent(-32602, "There is no such session.");
      // What was told before the request is known before it is answered.
      await current?.running.inbox.settled();
      return await answerAgent(request, {
        turn,
        terminals,
        cwd,
        ...place,
        homeFolder: deps.homeFolder,
        missingIsEmpty: open?.running.greeting.missingIsEmpty ?? false,
      });
    } catch (error) {
      // A transcript that cannot be written, or a fault of ours: the turn cannot go on.
      if (!(error instanceof RefuseAgent) && (error as SallyportError).code !== "overloaded") failTurn(error);
      throw asAgentRefusal(error);
    }
  }

  async function onNotification(method: string, rawParams: unknown): Promise<void> {
    const { sessionId, update: rawUpdate } = objectOf(rawParams);
    if (method !== "session/update") return;
    const update = objectOf(rawUpdate);
    if (update.sessionUpdate === "available_commands_update") return takeCommands(update.availableCommands);
    if (loading || (open && sessionId !== undefined && sessionId !== open.session)) return;
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
    if (!open) return;
    const before = open.options.model;
    open.options = { ...open.options, ...readConfigOptions(raw) };
    options.onOptions(open.options);
    const { model } = open.options;
    if (model !== before && model !== null) await turn?.desk.context.record({ type: "model_changed", model });
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
    place = { workspace: context.workspace, tab: context.tab };
    if (open && !open.running.connection.lost.aborted && !open.running.process.hasEnded()) return open;
    await end("it ended");
    context.signal.throwIfAborted();
    await options.makeRoom();
    onCommands = context.commandsChanged;
    cwd = context.cwd;
    const running = await runAgent({
      spec: options.spec(),
      cwd,
      deps,
      signal: context.signal,
      onRequest,
      onNotification,
      onError: (error) => failTurn(error),
    });
    try {
      open = await openSession(running, context, {
        agent: options.id,
        runtime: options.runtime,
        cwd,
        deps,
        setLoading(now) {
          loading = now;
        },
      });
      options.onOptions(open.options);
      return open;
    } catch (error) {
      running.connection.close("its session could not be opened");
      stopping = running.process.stop();
      throw running.problemOf(error);
    }
  }

  async function prompt(current: OpenSession, context: TurnContext): Promise<TurnOutcome | "forgotten"> {
    try {
      await applyChoices(current, context);
      return await promptSession(current, context, {
        cwd,
        terminals,
        now: deps.now,
        takeNote() {
          if (noteGiven) return null;
          noteGiven = true;
          return options.note;
        },
        setTurn(next, fail) {
          turn = next;
          failTurn = fail;
        },
        endAgent: (why) => void end(why),
      });
    } catch (error) {
      const { connection, problemOf } = current.running;
      if (!connection.lost.aborted) throw problemOf(error);
      // Its last words come with its end.
      await end("it ended");
      throw error instanceof SallyportError ? error : problemOf(connection.lost.reason);
    }
  }

  async function runTurn(context: TurnContext): Promise<TurnOutcome> {
    for (let tries = 0; ; tries += 1) {
      const current = await ensure(context);
      const outcome = await prompt(current, context);
      if (outcome !== "forgotten") return outcome;
      if (tries > 0) throw problem(`${current.running.spec.title} does not know its own session.`);
      await removeSessionRecord(sessionsFolder, options.id);
      await end("it forgot its session");
    }
  }

  return {
    ensure,
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
