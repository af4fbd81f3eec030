import { isAbsolute, join } from "node:path";
import { newId } from "../../lib/ids.ts";
import type { AgentEventBody } from "../../protocol/events.ts";
import { makeValueVisible, makeVisible } from "../visible-text.ts";
import { createPauses, type Pauses } from "./replay-pauses.ts";
import type { Step, StepOf } from "./replay-script.ts";
import { createVoice, type Voice } from "./replay-voice.ts";
import type { AgentContext, SubagentContext, TurnContext, TurnOutcome } from "./runtime.ts";

/** What a call or question came to, for later steps that depend on it. */
interface Result {
  readonly is: "allowed" | "denied" | "answered" | "cancelled";
  readonly answers: readonly string[];
}
interface Call {
  readonly id: string;
  readonly tool: string;
  readonly startedMs: number;
  open: boolean;
}
interface Speaker {
  readonly context: AgentContext;
  readonly voice: Voice;
  readonly subagent: SubagentContext | null;
}

export interface PlayOptions {
  readonly steps: readonly Step[];
  readonly context: TurnContext;
  readonly now: () => number;
  /** What `{…}` in a text stands for. */
  readonly fill: (text: string, answerTo: (name: string) => string | null) => string;
}

/** Plays a script as one turn. Nothing is run: calls are asked for and shown, with the output that the script has. */
export async function playScript(options: PlayOptions): Promise<TurnOutcome> {
  const { context, now } = options;
  const results = new Map<string, Result>();
  const calls = new Map<string, Call>();
  const speakers = new Map<string, Speaker>();
  const main = speaker(context, null);
  const pauses: Pauses = createPauses();

  const fill = (text: string): string =>
    options.fill(text, (name) => results.get(name)?.answers.join(", ") ?? null);

  function speaker(of: AgentContext, subagent: SubagentContext | null): Speaker {
    return { context: of, subagent, voice: createVoice(of) };
  }

  function applies({ when }: Step): boolean {
    if (!when) return true;
    const result = when.step === undefined ? null : results.get(when.step);
    const holds =
      (when.prompt === undefined || context.text.toLowerCase().includes(when.prompt.toLowerCase())) &&
      (when.step === undefined || result !== undefined) &&
      (when.is === undefined || result?.is === when.is) &&
      (when.answer === undefined ||
        (result?.answers.some((each) => each.split("\n").includes(when.answer ?? "")) ?? false));
    return holds !== (when.not ?? false);
  }

  async function startCall(step: StepOf<"tool_started">, by: Speaker): Promise<void> {
    const { tool, input } = step;
    const subject = subjectOf(step, context.cwd);
    const call: Call = { id: newId(), tool, startedMs: now(), open: true };
    calls.set(step.call, call);
    await by.voice.finish();
    await by.context.record({
      type: "tool_started",
      call_id: call.id,
      tool,
      summary: makeVisible(step.summary ?? subject ?? tool, { keepLayout: false }),
      input: makeValueVisible(input),
    });
    const judged = tool === "bash" || tool === "edit" ? tool : null;
    if (judged === null || subject === null || step.asks === false) {
      results.set(step.call, { is: "allowed", answers: [] });
      return;
    }
    const permit = await by.context.permit({ callId: call.id, tool: judged, subject, input });
    results.set(step.call, { is: permit.allowed ? "allowed" : "denied", answers: [] });
    if (!permit.allowed) await endCall(call, by, { output: permit.reason, is_error: true });
  }

  async function endCall(
    call: Call,
    by: Speaker,
    end: Pick<
      Extract<AgentEventBody, { type: "tool_finished" }>,
      "output" | "is_error" | "exit_code" | "diff"
    >,
  ): Promise<void> {
    call.open = false;
    await by.context.record({
      type: "tool_finished",
      call_id: call.id,
      tool: call.tool,
      millis: Math.max(0, Math.round(now() - call.startedMs)),
      ...end,
    });
  }

  async function ask(step: StepOf<"question_asked">, by: Speaker): Promise<void> {
    await by.voice.finish();
    const answer = await by.context.askQuestion({
      callId: (step.call === undefined ? null : calls.get(step.call)?.id) ?? null,
      subagent: null,
      questions: step.questions.map(({ prompt, options: choices = [], multiple = false }) => ({
        prompt: fill(prompt),
        options: choices.map(({ label, description = null }) => ({ label, description })),
        multiple,
      })),
    });
    results.set(step.id, { is: answer.cancelled ? "cancelled" : "answered", answers: answer.answers });
  }

  async function startAgent(step: StepOf<"agent_started">): Promise<void> {
    await speakers.get(step.agent)?.subagent?.finish({ outcome: "done" });
    const started = await context.startSubagent({
      label: step.agent,
      text: fill(step.text),
      model: null,
      callId: (step.call === undefined ? null : calls.get(step.call)?.id) ?? null,
    });
    speakers.set(step.agent, speaker(started, started));
  }

  async function playOne(step: Step, by: Speaker): Promise<TurnOutcome | null> {
    switch (step.type) {
      case "text_delta":
      case "thinking_delta":
        await by.voice.say(step.type, fill(step.text), step.word_ms, (ms) =>
          pauses.wait(ms, by.context.signal),
        );
        break;
      case "assistant_message":
        await by.voice.finish(step.text === undefined ? undefined : fill(step.text));
        break;
      case "tool_call_streaming":
        by.context.delta({ type: step.type, tool: step.tool });
        break;
      case "tool_started":
        await startCall(step, by);
        break;
      case "tool_output": {
        const call = calls.get(step.call);
        if (call?.open) by.context.delta({ type: step.type, call_id: call.id, text: fill(step.text) });
        break;
      }
      case "tool_finished": {
        const call = calls.get(step.call);
        if (!call?.open) break;
        const { output = "", exit_code, is_error = (exit_code ?? 0) !== 0, diff } = step;
        await endCall(call, by, {
          output: fill(output),
          is_error,
          ...(exit_code === undefined ? {} : { exit_code }),
          ...(diff === undefined ? {} : { diff }),
        });
        break;
      }
      case "question_asked":
        await ask(step, by);
        break;
      case "agent_started":
        await startAgent(step);
        break;
      case "agent_finished":
        await by.voice.finish();
        await by.subagent?.finish(
          step.error === undefined ? { outcome: "done" } : { outcome: "failed", error: fill(step.error) },
        );
        break;
      case "usage":
        await by.context.record({
          type: "usage",
          input_tokens: step.input_tokens,
          output_tokens: step.output_tokens,
          cache_read_tokens: step.cache_read_tokens ?? 0,
          cache_write_tokens: step.cache_write_tokens ?? 0,
          cost: step.cost ?? null,
          context_tokens: step.context_tokens ?? null,
        });
        break;
      case "todos":
        await by.context.record({ type: "todos", todos: step.todos });
        break;
      case "title":
        await by.context.record({ type: "title", title: fill(step.title) });
        break;
      case "notice":
        await by.context.record({ type: "notice", message: fill(step.message) });
        break;
      case "error":
        await by.context.record({ type: "error", code: step.code, message: fill(step.message) });
        break;
      case "compacted":
        await by.voice.finish();
        await by.context.record({ type: "compacted", summary: fill(step.summary) });
        break;
      case "wait":
        break;
      case "hold":
        await pauses.untilAborted(by.context.signal);
        break;
      case "turn_finished":
        await by.voice.finish();
        if (by.subagent) await by.subagent.finish({ outcome: "done" });
        else
          return step.error === undefined
            ? { outcome: "done" }
            : { outcome: "failed", error: fill(step.error) };
    }
    return null;
  }

  for (const step of options.steps) {
    if (context.signal.aborted) return { outcome: "done" };
    if (!applies(step)) continue;
    const isStart = step.type === "agent_started";
    const by = step.agent === undefined || isStart ? main : speakers.get(step.agent);
    // Its start was left out, or it has ended or was cancelled: what it would have done does not happen.
    if (!by || (by.context.signal.aborted && step.type !== "agent_finished")) continue;
    await pauses.wait(step.delay_ms ?? 0, by.context.signal);
    if (context.signal.aborted) return { outcome: "done" };
    if (by.context.signal.aborted) {
      await by.subagent?.finish({ outcome: "done" });
      continue;
    }
    const end = await playOne(step, by);
    if (end) return end;
    if (by.context.signal.aborted && !context.signal.aborted) await by.subagent?.finish({ outcome: "done" });
  }
  await main.voice.finish();
  return { outcome: "done" };
}

/** What is judged: a command line, or an absolute path. Null where the input has none. */
function subjectOf({ tool, input }: StepOf<"tool_started">, cwd: string): string | null {
  const raw = tool === "bash" ? input.command : input.path;
  if (typeof raw !== "string" || raw === "") return null;
  return tool === "bash" || isAbsolute(raw) ? raw : join(cwd, raw);
}
