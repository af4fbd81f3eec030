import { describe, expect, it } from "vitest";
import { hideSecrets } from "../../../src/engine/runtimes/hide-secrets.ts";
import type { CallToPermit, Runtime, TurnContext } from "../../../src/engine/runtimes/runtime.ts";
import { SallyportError } from "../../../src/errors.ts";
import type { AgentEventBody } from "../../../src/protocol/events.ts";

const secret = "sk-0123456789";

function lab(runTurn: Runtime["runTurn"], more: Partial<Runtime> = {}) {
  const said: AgentEventBody[] = [];
  const asked: unknown[] = [];
  const context = {
    agent: "a",
    turn: "t",
    signal: new AbortController().signal,
    cwd: "/srv",
    async record(...bodies: AgentEventBody[]) {
      said.push(...bodies);
    },
    delta: (body: AgentEventBody) => void said.push(body),
    async permit(call: CallToPermit) {
      asked.push(call);
      return { allowed: true };
    },
    async askQuestion(question: unknown) {
      asked.push(question);
      return { answers: [], cancelled: true };
    },
    async startSubagent(spec: unknown) {
      asked.push(spec);
      return { ...context, finish: async (outcome: unknown) => void asked.push(outcome) };
    },
  } as unknown as TurnContext;
  const runtime = hideSecrets(
    { name: "x", needsTrust: true, takesModel: false, checkPrompt: () => undefined, runTurn, ...more },
    () => [secret],
  );
  return { said, asked, context, runtime };
}
const text = (part: string): AgentEventBody => ({ type: "text_delta", message: "m", text: part });
const other = (part: string): AgentEventBody => ({ type: "tool_output", call_id: "c", text: part });

describe("hideSecrets", () => {
  it("strikes a secret out of texts that come in pieces, each message and call for itself", async () => {
    const { said, context, runtime } = lab(async (given) => {
      for (const part of ["It is s", "k-01234", "56789."]) given.delta(text(part));
      given.delta(other("sk-0123"));
      given.delta(text(" And s"));
      given.delta(other("456789"));
      await given.record({ type: "assistant_message", message: { id: "m", text: `It is ${secret}. And s` } });
      given.delta(text("k-1"));
      return { outcome: "done" };
    });
    expect(await runtime.runTurn(context)).toEqual({ outcome: "done" });
    const of = (type: string) =>
      said.flatMap((body) => (body.type === type && "text" in body ? [body.text] : [])).join("");
    expect(of("text_delta")).toBe("It is [secret]. And sk-1");
    expect(of("tool_output")).toBe("[secret]");
    const record = said.findIndex(({ type }) => type === "assistant_message");
    expect(said[record]).toMatchObject({ message: { text: "It is [secret]. And s" } });
    // What was held back came before the record that ends the message.
    expect(said.slice(0, record).at(-1)).toMatchObject({ type: "text_delta", text: "s" });
  });

  it("shows a call without it, and lets no rule allow what is not seen whole", async () => {
    const { asked, context, runtime } = lab(async (given) => {
      const call = { callId: "c", tool: "bash" } as const;
      await given.permit({ ...call, subject: "ls", input: { command: "ls", env: secret } });
      await given.permit({ ...call, subject: `curl -H ${secret}`, input: { command: `curl -H ${secret}` } });
      return { outcome: "done" };
    });
    await runtime.runTurn(context);
    expect(asked[0]).toEqual({
      callId: "c",
      tool: "bash",
      subject: "ls",
      input: { command: "ls", env: "[secret]" },
    });
    expect(asked[1]).toMatchObject({ subject: "curl -H [secret]", hidden: true });
    expect(JSON.stringify(asked)).not.toContain(secret);
  });

  it("covers questions, subagents, summaries, and how a turn ends", async () => {
    const { asked, said, context, runtime } = lab(
      async (given) => {
        await given.askQuestion({
          callId: null,
          subagent: null,
          questions: [{ prompt: `Use ${secret}?`, options: [], multiple: false }],
        });
        const child = await given.startSubagent({ label: secret, text: secret, model: null, callId: null });
        child.delta(text("s"));
        child.delta(text("k-0123456789"));
        await child.finish({ outcome: "failed", error: `401: ${secret}` });
        return { outcome: "failed", error: `401: ${secret}` };
      },
      { compact: async () => `They use ${secret}.` },
    );
    expect(await runtime.runTurn(context)).toEqual({ outcome: "failed", error: "401: [secret]" });
    expect(await runtime.compact?.(context)).toBe("They use [secret].");
    expect(JSON.stringify([asked, said])).not.toContain(secret);
    expect(said.at(-1)).toMatchObject({ text: "[secret]" });
  });

  it("strikes it out of a refusal, and passes on other errors as they are", async () => {
    const refused = lab(async () => {
      throw new SallyportError("invalid_field", `No model ${secret}.`, { field: "model" });
    });
    await expect(refused.runtime.runTurn(refused.context)).rejects.toMatchObject({
      code: "invalid_field",
      field: "model",
      message: "No model [secret].",
    });
    const fault = new TypeError("x is not a function");
    const broken = lab(async () => {
      throw fault;
    });
    await expect(broken.runtime.runTurn(broken.context)).rejects.toBe(fault);
  });

  it("strikes it out of what an agent offers, and of refusals before a turn", async () => {
    const refuse = (): never => {
      throw new SallyportError("invalid_field", `There are: ${secret}`, { field: "model" });
    };
    const { runtime } = lab(async () => ({ outcome: "done" }), {
      models: () => [{ id: "m", runtime: "x", name: `for ${secret}`, context_tokens: null }],
      commands: () => [{ name: "login", description: `with ${secret}`, argumentHint: null }],
      learnModels: async () => refuse(),
      chooseModel: refuse,
      chooseThinking: refuse,
    });
    expect(runtime.models?.()).toMatchObject([{ id: "m", name: "for [secret]" }]);
    expect(runtime.commands?.("a")).toMatchObject([{ description: "with [secret]" }]);
    await expect(runtime.learnModels?.("/srv", "m")).rejects.toThrow("There are: [secret]");
    expect(() => runtime.chooseModel?.("m")).toThrow("There are: [secret]");
    expect(() => runtime.chooseThinking?.("high", null)).toThrow("There are: [secret]");
  });
});
