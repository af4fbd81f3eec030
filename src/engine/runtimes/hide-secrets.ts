import { SallyportError } from "../../errors.ts";
import type { AgentEventBody } from "../../protocol/events.ts";
import type {
  AgentContext,
  CallToPermit,
  Runtime,
  SubagentContext,
  TurnContext,
  TurnOutcome,
} from "./runtime.ts";
import { createStriker, type Striker, type StrikeStream } from "./strike-secrets.ts";

/**
 * The same runtime, with secrets struck out of all that it says: agents print their environment, and servers quote the key
 * that they refuse. Asked for at each turn: keys may have changed. What is run is not touched, only what is shown; a call
 * whose own text holds a secret is shown without it, and no rule allows it unseen.
 */
export function hideSecrets(runtime: Runtime, secrets: () => readonly string[]): Runtime {
  const { compact, learnModels, models, commands, chooseModel, chooseThinking } = runtime;
  const striker = (): Striker => createStriker(secrets());
  return {
    ...runtime,
    async runTurn(context) {
      const striker = createStriker(secrets());
      const guarded = guardTurn(context, striker);
      const outcome = await telling(striker, () => runtime.runTurn(guarded.context));
      guarded.flush();
      return struckOutcome(outcome, striker);
    },
    ...(compact
      ? {
          async compact(context: TurnContext) {
            const striker = createStriker(secrets());
            const guarded = guardTurn(context, striker);
            return striker.text(await telling(striker, () => compact(guarded.context)));
          },
        }
      : {}),
    ...(learnModels && {
      learnModels: (cwd: string, model: string) => telling(striker(), () => learnModels(cwd, model)),
    }),
    ...(models && { models: () => striker().value(models()) }),
    ...(commands && { commands: (agent: string) => striker().value(commands(agent)) }),
    ...(chooseModel && {
      chooseModel: (model: string | null) => tellingNow(striker(), () => chooseModel(model)),
    }),
    ...(chooseThinking && {
      chooseThinking: (thinking: string, model: string | null) =>
        tellingNow(striker(), () => chooseThinking(thinking, model)),
    }),
  };
}

function struckOutcome(outcome: TurnOutcome, striker: Striker): TurnOutcome {
  return outcome.outcome === "failed" ? { ...outcome, error: striker.text(outcome.error) } : outcome;
}

/** Refusals go to clients with their message. */
async function telling<T>(striker: Striker, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    throw struckError(error, striker);
  }
}

function tellingNow<T>(striker: Striker, act: () => T): T {
  try {
    return act();
  } catch (error) {
    throw struckError(error, striker);
  }
}

function struckError(error: unknown, striker: Striker): unknown {
  if (!(error instanceof SallyportError)) return error;
  const message = striker.text(error.message);
  if (message === error.message) return error;
  return new SallyportError(error.code, message, error.field === undefined ? {} : { field: error.field });
}

function guardTurn(
  context: TurnContext,
  striker: Striker,
): { readonly context: TurnContext; readonly flush: () => void } {
  const { guarded, flush } = guard(context, striker);
  return { context: { ...context, ...guarded }, flush };
}

type Guarded = Pick<AgentContext, "record" | "delta" | "permit" | "askQuestion" | "startSubagent">;

function guard(
  context: AgentContext,
  striker: Striker,
): { readonly guarded: Guarded; readonly flush: () => void } {
  const streams = new Map<string, { readonly stream: StrikeStream; readonly last: AgentEventBody }>();

  /** What was held back comes before whatever follows. */
  function flush(): void {
    for (const { stream, last } of streams.values()) {
      const text = stream.flush();
      if (text !== "" && "text" in last) context.delta({ ...last, text });
    }
    streams.clear();
  }

  const guarded: Guarded = {
    async record(...bodies) {
      flush();
      await context.record(...bodies.map(striker.value));
    },
    delta(body) {
      const name = streamOf(body);
      if (name === null || !("text" in body)) {
        context.delta(striker.value(body));
        return;
      }
      const stream = streams.get(name)?.stream ?? striker.stream();
      streams.set(name, { stream, last: body });
      const text = stream.push(body.text);
      if (text !== "" || body.text === "") context.delta({ ...body, text });
    },
    permit: (call) => context.permit(struckCall(call, striker)),
    askQuestion: (question) => context.askQuestion(striker.value(question)),
    async startSubagent(spec) {
      const subagent = await context.startSubagent(striker.value(spec));
      return guardSubagent(subagent, striker);
    },
  };
  return { guarded, flush };
}

function guardSubagent(context: SubagentContext, striker: Striker): SubagentContext {
  const { guarded, flush } = guard(context, striker);
  return {
    ...context,
    ...guarded,
    async finish(outcome) {
      flush();
      await context.finish(struckOutcome(outcome, striker));
    },
  };
}

/** Texts of one message, or of one call, follow each other. */
function streamOf(body: AgentEventBody): string | null {
  if (body.type === "text_delta" || body.type === "thinking_delta") return `${body.type} ${body.message}`;
  return body.type === "tool_output" ? `${body.type} ${body.call_id}` : null;
}

function struckCall(call: CallToPermit, striker: Striker): CallToPermit {
  const struck = { ...call, input: striker.value(call.input) };
  const subject = striker.text(call.subject);
  const also = call.also?.map(striker.text);
  const isWhole = subject === call.subject && also?.join("\n") === call.also?.join("\n");
  return isWhole ? struck : { ...struck, subject, ...(also ? { also } : {}), hidden: true };
}
