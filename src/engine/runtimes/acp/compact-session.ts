import type { AgentEventBody } from "../../../protocol/events.ts";
import type { TurnContext } from "../runtime.ts";
import type { AcpAgent } from "./acp-agent.ts";
import { problem } from "./problem-text.ts";

/** Slash commands by which agents make their own context smaller; the first that is offered is sent. */
const commandNames = ["compact", "compress", "summarize"] as const;

/**
 * Lets an agent sum up its conversation by its own slash command, and returns what it said about that. Throws
 * `SallyportError` for an agent that offers none.
 */
export async function compactSession(context: TurnContext, agent: AcpAgent, title: string): Promise<string> {
  await agent.ensure(context);
  const command = await offered(agent);
  if (command === null)
    throw problem(
      `${title} offers no command to make its context smaller (${commandNames.map((name) => `/${name}`).join(", ")}). Clear the conversation instead, or start another agent.`,
    );
  const said: string[] = [];
  const text = `/${command}`;
  const outcome = await agent.runTurn({
    ...context,
    text,
    parts: [{ type: "text", text }],
    async record(...bodies) {
      // What it says is the summary, which is recorded as such.
      said.push(...bodies.flatMap((body) => messageOf(body) ?? []));
      const others = bodies.filter((body) => messageOf(body) === null);
      if (others.length > 0) await context.record(...others);
    },
    delta(body) {
      if (body.type !== "text_delta" && body.type !== "thinking_delta") context.delta(body);
    },
  });
  if (outcome.outcome === "failed") throw problem(outcome.error);
  return said.join("\n\n").trim() || `${title} made its context smaller by /${command}.`;
}

/** Commands are told some time after a session opened. */
async function offered(agent: AcpAgent): Promise<string | null> {
  const waitMs = 3_000;
  const stepMs = 50;
  for (let waitedMs = 0; ; waitedMs += stepMs) {
    const found = commandNames.find((name) => agent.commands.some((command) => command.name === name));
    if (found !== undefined) return found;
    if (waitedMs >= waitMs || agent.commands.length > 0) return null;
    await new Promise((resolve) => setTimeout(resolve, stepMs));
  }
}

function messageOf(body: AgentEventBody): string | null {
  return body.type === "assistant_message" ? body.message.text : null;
}
