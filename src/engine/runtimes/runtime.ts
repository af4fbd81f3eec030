import type { AgentEvent, AgentEventBody } from "../../protocol/events.ts";
import type { Model, RuntimeRow, Tool } from "../../protocol/rest-objects.ts";
import type { PromptPart } from "../attachments/prompt-part.ts";
import type { QuestionAnswer } from "../requests/questions.ts";

export interface RawPrompt {
  readonly text: string;
  readonly images: number;
  readonly attachments: number;
}

export interface CallToPermit {
  readonly callId: string;
  /** `other`: neither a command nor a write, but something that an agent asks for by itself. */
  readonly tool: "bash" | "edit" | "other";
  /** The tool's name as it is shown; default: `tool`. */
  readonly shownAs?: string;
  /** The whole command line, or the absolute path: what is judged and what must then be run. Of `other` the agent's words. */
  readonly subject: string;
  /** Further paths that the same call writes: the strictest verdict counts. */
  readonly also?: readonly string[];
  /** The subject is only what an agent says of the call: no rule can allow it, and it asks where there are deny rules. */
  readonly hidden?: boolean;
  /** The tool's input as it is shown. */
  readonly input: unknown;
  /** Asked for when a person is asked: a sentence that whoever answers must know, or null. */
  readonly note?: () => string | null;
  /** Takes the request back. */
  readonly signal?: AbortSignal;
}
export type Permit =
  | { readonly allowed: true }
  /** `reason` is a sentence for the transcript. `cancelled`: nobody decided, the turn ended or the request was taken back. */
  | { readonly allowed: false; readonly reason: string; readonly cancelled: boolean };

export interface TurnQuestion {
  readonly callId: string | null;
  readonly subagent: string | null;
  readonly questions: readonly {
    readonly prompt: string;
    readonly options: readonly { readonly label: string; readonly description: string | null }[];
    readonly multiple: boolean;
  }[];
}

/** What an agent, or a subagent of it, may do in the world of the engine while its turn runs. */
export interface AgentContext {
  readonly agent: string;
  readonly turn: string;
  /**
   * Aborts when the turn is cancelled, the agent is closed or the daemon stops; a subagent's also when its parent's does.
   * The runtime then ends soon.
   */
  readonly signal: AbortSignal;
  /** Writes events to the transcript, then announces them. Throws `disk_full`: then the turn cannot go on. */
  record(...bodies: readonly AgentEventBody[]): Promise<void>;
  /** Announces what is live only: text, thinking and tool output as they come. */
  delta(body: AgentEventBody): void;
  /** Judges a call by mode and rules and asks the clients where these say so. Never allows after the turn was ended. */
  permit(call: CallToPermit): Promise<Permit>;
  /** Asks the clients. Cancelled when a person closed the question, or the turn ended. */
  askQuestion(question: TurnQuestion): Promise<QuestionAnswer>;
  /** Starts an agent below this one, with a transcript and a turn of its own. Throws `overloaded`, `disk_full`. */
  startSubagent(spec: SubagentSpec): Promise<SubagentContext>;
}

export interface SubagentSpec {
  readonly label: string;
  /** Its task: the text of its first message. */
  readonly text: string;
  readonly model: string | null;
  /** The call of the parent that started it. */
  readonly callId: string | null;
}

export interface SubagentContext extends AgentContext {
  /** Ends it; done by the engine at the end of the parent's turn for one that still runs. Does nothing the second time. */
  finish(outcome: TurnOutcome): Promise<void>;
}

/** What a runtime is given for one turn: the prompt, and everything it may do in the world of the engine. */
export interface TurnContext extends AgentContext {
  readonly workspace: string;
  readonly tab: string;
  /** The prompt's text, slash commands of the project expanded. */
  readonly text: string;
  /** The text and what is attached to it: text blocks and images. Empty attachments leave the text alone. */
  readonly parts: readonly PromptPart[];
  /** Real path of the tab's folder when the turn began. */
  readonly cwd: string;
  readonly model: string | null;
  /** How much the model shall think, as `chooseThinking` took it; null: as it does by itself. */
  readonly thinking: string | null;
  /**
   * The records of the agent since its context was last cleared, or since its last compaction, that one first; this turn's
   * beginning last: what the agent knows after a restart. Bounded; of a longer conversation the newest part.
   */
  history(): Promise<readonly AgentEvent[]>;
  /** Tells the clients that `commands` of the runtime are others now; also behind the turn's end. */
  commandsChanged(): void;
}

/** How a turn ended by itself. A denial, or a command's exit status, is no failure of the turn. */
export type TurnOutcome =
  | { readonly outcome: "done" }
  | { readonly outcome: "failed"; readonly error: string };

/** What a person who chooses a runtime is told of it. */
export type RuntimeAbout = Omit<RuntimeRow, "name" | "takes_model" | "needs_trust">;

/** What runs an agent's turns. The engine owns turns, receipts, approvals and transcripts; a runtime only answers prompts. */
export interface Runtime {
  readonly name: string;
  /** False for one that may also run in a folder that nobody has trusted: it reads and runs nothing of the project by itself. */
  readonly needsTrust: boolean;
  readonly takesModel: boolean;
  /** True where a prompt is run as a command line. */
  readonly promptIsCommandLine?: boolean;
  /** The tools that its agents call, for clients to show; none when absent. */
  readonly tools?: readonly Omit<Tool, "runtime">[];
  /** What clients must say where its agents run and ask: what Sallyport's rules do not reach. */
  readonly note?: string;
  /** Slash commands that this agent offers by itself; a prompt `/name args` is passed on to it as it is. */
  commands?(agent: string): readonly RuntimeCommand[];
  /** What it is and how it is at this moment; it must be cheap. */
  about?(): RuntimeAbout;
  /** The models that it can use as things are now; none when absent. */
  models?(): readonly Model[];
  /**
   * Makes `models` and `chooseModel` know whether there is this model, where that takes starting something in `cwd`.
   * Awaited before a model is chosen for an agent. Throws `SallyportError` when it cannot be found out.
   */
  learnModels?(cwd: string, model: string): Promise<void>;
  /**
   * The model that an agent gets: the one asked for, or for null the default. Throws `invalid_field` (`model`) for one
   * that it does not have. Absent where there is nothing to choose.
   */
  chooseModel?(model: string | null): string | null;
  /**
   * The level of thinking that an agent gets. Throws `invalid_field` (`thinking`) for one that its model does not have.
   * Absent where there is none to choose.
   */
  chooseThinking?(thinking: string, model: string | null): string;
  /** Forgets what it holds of an agent's conversation beside `history()`: its context was cleared. Absent: it holds nothing. */
  clear?(agent: string): void | Promise<void>;
  /** Lets go of what it holds (a process, a cache) for an agent that was closed, or that nobody uses now; its next turn begins as after a restart. */
  release?(agent: string): void | Promise<void>;
  /**
   * Sums up the conversation so far, so that the agent goes on from there: returns the summary, which the engine records.
   * Absent where there is no context to make smaller. What it throws makes the turn `failed`.
   */
  compact?(context: TurnContext): Promise<string>;
  /** Refuses a prompt that this runtime cannot run, before it is accepted. Throws `SallyportError`. */
  checkPrompt(prompt: RawPrompt): void;
  /** Runs one turn to its end. What it throws makes the turn `failed`. */
  runTurn(context: TurnContext): Promise<TurnOutcome>;
  /** Ends everything that it holds, processes first of all. The turns have ended, or had time to. */
  close?(): Promise<void>;
}

export interface RuntimeCommand {
  readonly name: string;
  readonly description: string | null;
  readonly argumentHint: string | null;
}

/** The runtimes by name, in one explicit list. Two with one name are a TypeError. */
export function runtimeRegistry(runtimes: readonly Runtime[]): ReadonlyMap<string, Runtime> {
  const registry = new Map<string, Runtime>();
  for (const runtime of runtimes) {
    if (registry.has(runtime.name)) throw new TypeError(`two runtimes are called ${runtime.name}`);
    registry.set(runtime.name, runtime);
  }
  return registry;
}
