import { type Static, type TSchema, Type } from "typebox";
import { Compile } from "typebox/compile";

/** Bounds of a script. Names carry the unit. */
export const replayLimits = {
  fileBytes: 1024 * 1024,
  steps: 5_000,
  delayMs: 60_000,
  wordMs: 1_000,
  /** All waiting of one turn together; later steps follow without a pause. */
  turnDelayMs: 10 * 60_000,
} as const;

const Name = Type.String({ minLength: 1, maxLength: 64 });
const Text = Type.String({ maxLength: 256 * 1024 });
const Count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });

/** When a step is played; all that is said must hold. */
const When = Type.Object(
  {
    /** The prompt holds this text, in any letter case. */
    prompt: Type.Optional(Type.String({ minLength: 1, maxLength: 1_000 })),
    /** The call or question of this name … */
    step: Type.Optional(Name),
    /** … ended like this … */
    is: Type.Optional(
      Type.Union([
        Type.Literal("allowed"),
        Type.Literal("denied"),
        Type.Literal("answered"),
        Type.Literal("cancelled"),
      ]),
    ),
    /** … or one of its answers was this, or a list with this in it. */
    answer: Type.Optional(Type.String({ maxLength: 1_000 })),
    not: Type.Optional(Type.Boolean()),
  },
  { additionalProperties: false },
);

function step<const T extends string, P extends Record<string, TSchema>>(type: T, fields: P) {
  return Type.Object(
    {
      type: Type.Literal(type),
      delay_ms: Type.Optional(Type.Integer({ minimum: 0, maximum: replayLimits.delayMs })),
      when: Type.Optional(When),
      ...fields,
    },
    { additionalProperties: false },
  );
}

/** A step of the agent, or of the subagent that an `agent_started` gave this name. */
function spoken<const T extends string, P extends Record<string, TSchema>>(type: T, fields: P) {
  return step(type, { agent: Type.Optional(Name), ...fields });
}

const said = {
  text: Text,
  /** Comes word by word, with this pause between them. */
  word_ms: Type.Optional(Type.Integer({ minimum: 0, maximum: replayLimits.wordMs })),
};

export const stepSchemas = {
  text_delta: spoken("text_delta", said),
  thinking_delta: spoken("thinking_delta", said),
  assistant_message: spoken("assistant_message", { text: Type.Optional(Text) }),
  tool_call_streaming: spoken("tool_call_streaming", { tool: Name }),
  tool_started: spoken("tool_started", {
    call: Name,
    tool: Name,
    input: Type.Record(Type.String(), Type.Unknown()),
    summary: Type.Optional(Text),
    /** Default: true for `bash` and `edit`, which mode and rules judge; other tools never ask. */
    asks: Type.Optional(Type.Boolean()),
  }),
  tool_output: spoken("tool_output", { call: Name, text: Text }),
  tool_finished: spoken("tool_finished", {
    call: Name,
    output: Type.Optional(Text),
    is_error: Type.Optional(Type.Boolean()),
    exit_code: Type.Optional(Type.Integer({ minimum: 0, maximum: 255 })),
    diff: Type.Optional(Type.Object({ path: Text, patch: Text }, { additionalProperties: false })),
  }),
  question_asked: spoken("question_asked", {
    id: Name,
    call: Type.Optional(Name),
    questions: Type.Array(
      Type.Object(
        {
          prompt: Text,
          options: Type.Optional(
            Type.Array(
              Type.Object({ label: Name, description: Type.Optional(Text) }, { additionalProperties: false }),
              { maxItems: 64 },
            ),
          ),
          multiple: Type.Optional(Type.Boolean()),
        },
        { additionalProperties: false },
      ),
      { minItems: 1, maxItems: 16 },
    ),
  }),
  agent_started: step("agent_started", { agent: Name, text: Text, call: Type.Optional(Name) }),
  agent_finished: step("agent_finished", { agent: Name, error: Type.Optional(Text) }),
  todos: spoken("todos", {
    todos: Type.Array(
      Type.Object(
        {
          id: Name,
          content: Text,
          status: Type.Union([
            Type.Literal("pending"),
            Type.Literal("in_progress"),
            Type.Literal("completed"),
          ]),
        },
        { additionalProperties: false },
      ),
      { maxItems: 200 },
    ),
  }),
  usage: spoken("usage", {
    input_tokens: Count,
    output_tokens: Count,
    cache_read_tokens: Type.Optional(Count),
    cache_write_tokens: Type.Optional(Count),
    cost: Type.Optional(Type.Number({ minimum: 0 })),
    context_tokens: Type.Optional(Count),
  }),
  title: spoken("title", { title: Type.String({ maxLength: 1_000 }) }),
  notice: spoken("notice", { message: Text }),
  error: spoken("error", { code: Name, message: Text }),
  compacted: spoken("compacted", { summary: Text }),
  /** Nothing but the pause. */
  wait: spoken("wait", {}),
  /** Goes on until the turn is cancelled. */
  hold: spoken("hold", {}),
  /** Ends the turn before the end of the script. */
  turn_finished: spoken("turn_finished", { error: Type.Optional(Text) }),
};

type Steps = { readonly [T in keyof typeof stepSchemas]: Static<(typeof stepSchemas)[T]> };
export type StepType = keyof Steps;
export type StepOf<T extends StepType> = Steps[T];
export type Step = Steps[StepType];

/** A script that cannot be played; the message says where and why. */
export class ReplayScriptError extends Error {
  override readonly name = "ReplayScriptError";
}

const compile = () =>
  Object.fromEntries(Object.entries(stepSchemas).map(([type, schema]) => [type, Compile(schema as TSchema)]));
let validators: ReturnType<typeof compile> | null = null;

/**
 * Parses a script: one step a line, empty lines and lines that begin with `//` left out. Whole or not at all.
 *
 * @throws ReplayScriptError with the line and what is wrong in it
 */
export function parseReplayScript(text: string): readonly Step[] {
  const steps: Step[] = [];
  const names = new Set<string>();
  const agents = new Set<string>();
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === "" || line.startsWith("//")) continue;
    const refuse = (problem: string): never => {
      throw new ReplayScriptError(`line ${index + 1}: ${problem}`);
    };
    if (steps.length >= replayLimits.steps) refuse(`a script has at most ${replayLimits.steps} steps`);
    const parsed = parseStep(line, refuse);
    checkNames(parsed, names, agents, refuse);
    steps.push(parsed);
  }
  if (steps.length === 0) throw new ReplayScriptError("it has no steps");
  return steps;
}

function parseStep(line: string, refuse: (problem: string) => never): Step {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return refuse("it is not JSON");
  }
  const type = typeof value === "object" && value !== null ? (value as { type?: unknown }).type : undefined;
  validators ??= compile();
  const validator =
    typeof type === "string" && Object.hasOwn(validators, type) ? validators[type] : undefined;
  if (!validator) return refuse(`its type must be one of ${Object.keys(stepSchemas).join(", ")}`);
  if (!validator.Check(value)) {
    const first = validator.Errors(value)[0];
    const problem = first?.keyword === "boolean" ? "is not a field of this step" : first?.message;
    return refuse(`${first?.instancePath || "it"} ${problem ?? "is wrong"}`);
  }
  return value as Step;
}

/** Every name must have been given before it is used: a slip of the pen is told here, not in the middle of a turn. */
function checkNames(
  step: Step,
  names: Set<string>,
  agents: Set<string>,
  refuse: (problem: string) => never,
): void {
  if (step.when?.step !== undefined && !names.has(step.when.step))
    refuse(`no call or question before it is named ${JSON.stringify(step.when.step)}`);
  if ((step.when?.is !== undefined || step.when?.answer !== undefined) && step.when.step === undefined)
    refuse("when: name the step that is meant");
  if (step.type === "agent_started") {
    agents.add(step.agent);
  } else if (step.agent !== undefined && !agents.has(step.agent))
    refuse(`no agent_started before it is named ${JSON.stringify(step.agent)}`);
  if (step.type === "tool_started") names.add(step.call);
  else if (step.type === "question_asked") names.add(step.id);
  else if ("call" in step && step.call !== undefined && !names.has(step.call))
    refuse(`no tool_started before it is named ${JSON.stringify(step.call)}`);
}
