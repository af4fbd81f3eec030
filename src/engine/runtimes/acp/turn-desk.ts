import type { QuestionAnswer } from "../../requests/questions.ts";
import type { AgentContext, CallToPermit, Permit, TurnQuestion } from "../runtime.ts";
import { acpLimits } from "./acp-limits.ts";
import { RefuseAgent } from "./connection.ts";
import type { Speech } from "./speech.ts";
import type { FileChange } from "./tool-call.ts";
import type { ToolCalls } from "./tool-calls.ts";

/** What answering the requests of an agent needs to know of the turn that runs. */
export interface TurnDesk {
  readonly context: AgentContext;
  readonly cwd: string;
  readonly calls: ToolCalls;
  readonly speech: Speech;
  readonly redact: (text: string) => string;
  /** Changes and reads that a person or the mode allowed in this turn, exactly as they were shown; each counts once. */
  readonly allowed: { changes: FileChange[]; reads: Set<string> };
  permit(call: CallToPermit): Promise<Permit>;
  askQuestion(question: TurnQuestion): Promise<QuestionAnswer>;
}

export interface DeskOptions extends Omit<TurnDesk, "permit" | "askQuestion"> {
  /** Said with the first request of the agent. */
  readonly takeNote: () => string | null;
  /** Called when a person or a rule said no. */
  readonly onRefused: () => void;
}

/** Bounds what waits for people: an agent that asks for a thousand things at once gets most of them refused. */
export function createTurnDesk({ takeNote, onRefused, ...desk }: DeskOptions): TurnDesk {
  let waiting = 0;

  async function oneOfFew<T>(ask: () => Promise<T>): Promise<T> {
    if (waiting >= acpLimits.waitingForPeople)
      throw new RefuseAgent(-32603, "Too many requests of this agent wait for an answer.");
    waiting += 1;
    try {
      return await ask();
    } finally {
      waiting -= 1;
    }
  }

  return {
    context: desk.context,
    cwd: desk.cwd,
    calls: desk.calls,
    speech: desk.speech,
    redact: desk.redact,
    allowed: desk.allowed,
    async permit(call) {
      const permit = await oneOfFew(() => desk.context.permit({ ...call, note: takeNote }));
      if (!permit.allowed) onRefused();
      return permit;
    },
    async askQuestion(question) {
      const answer = await oneOfFew(() => desk.context.askQuestion(question));
      if (answer.cancelled) onRefused();
      return answer;
    },
  };
}
