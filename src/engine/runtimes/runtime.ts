import type { AgentEvent, AgentEventBody } from "../../protocol/events.ts";
import type { Model, Tool } from "../../protocol/rest-objects.ts";
import type { QuestionAnswer } from "../requests/questions.ts";

export interface RawPrompt {
  readonly text: string;
  readonly images: number;
  readonly attachments: number;
}

export interface CallToPermit {
  readonly callId: string;
  readonly tool: "bash" | "edit";
  /** The whole command line, or the absolute path: what is judged and what must then be run. */
  readonly subject: string;
  /** The tool's input as it is shown. */
  readonly input: unknown;
}
export type Permit =
  | { readonly allowed: true }
  /** `reason` is a sentence for the transcript. */
  | { readonly allowed: false; readonly reason: string };

export interface TurnQuestion {
  readonly callId: string | null;
  readonly subagent: string | null;
  readonly questions: readonly {
    readonly prompt: string;
    readonly options: readonly { readonly label: string; readonly description: string | null }[];
    readonly multiple: boolean;
  }[];
}

/** What a runtime is given for one turn: the prompt, and everything it may do in the world of the engine. */
export interface TurnContext {
  readonly workspace: string;
  readonly tab: string;
  readonly agent: string;
  readonly turn: string;
  readonly text: string;
  /** Real path of the tab's folder when the turn began. */
  readonly cwd: string;
  readonly model: string | null;
  /** Aborts when the turn is cancelled, the agent is closed or the daemon stops. The runtime then ends soon. */
  readonly signal: AbortSignal;
  /** Writes events to the transcript, then announces them. Throws `disk_full`: then the turn cannot go on. */
  record(...bodies: readonly AgentEventBody[]): Promise<void>;
  /** Announces what is live only: text, thinking and tool output as they come. */
  delta(body: AgentEventBody): void;
  /** Judges a call by mode and rules and asks the clients where these say so. Never allows after the turn was ended. */
  permit(call: CallToPermit): Promise<Permit>;
  askQuestion(question: TurnQuestion): Promise<QuestionAnswer>;
}

/** How a turn ended by itself. A denial, or a command's exit status, is no failure of the turn. */
export type TurnOutcome =
  | { readonly outcome: "done" }
  | { readonly outcome: "failed"; readonly error: string };

/** What runs an agent's turns. The engine owns turns, receipts, approvals and transcripts; a runtime only answers prompts. */
export interface Runtime {
  readonly name: string;
  /** False for one that may also run in a folder that nobody has trusted: it reads and runs nothing of the project by itself. */
  readonly needsTrust: boolean;
  readonly takesModel: boolean;
  /** Refuses a prompt that this runtime cannot run, before it is accepted. Throws `SallyportError`. */
  checkPrompt(prompt: RawPrompt): void;
  /** Runs one turn to its end. What it throws makes the turn `failed`. */
  runTurn(context: TurnContext): Promise<TurnOutcome>;
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
  /** The tools that its agents call, for clients to show; none when absent. */
  readonly tools?: readonly Omit<Tool, "runtime">[];
  /** The models that it can use as things are now; none when absent. */
  models?(): readonly Model[];
  /**
   * The model that an agent gets: the one asked for, or for null the default. Throws `invalid_field` (`model`) for one
   * that it does not have. Absent where there is nothing to choose.
   */
  chooseModel?(model: string | null): string | null;
  /**
   * Sums up the conversation so far, so that the agent goes on from there: returns the summary, which the engine records.
   * Absent where there is no context to make smaller. What it throws makes the turn `failed`.
   */
  compact?(context: TurnContext): Promise<string>;
