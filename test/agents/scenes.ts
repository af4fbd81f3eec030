import { join } from "node:path";
import type { Scene } from "../helpers/model-server/reply.ts";
import type { AgentTools } from "./agents.ts";

/** What the model says in the trials of every agent, with the tools of that agent. */
export function labScenes(tools: AgentTools): (project: string) => readonly Scene[] {
  return (project) => [
    { when: "say hello", steps: [{ text: "Hello from the model." }] },
    {
      when: "write it",
      steps: [
        { text: "I write it.", calls: [tools.write(join(project, "hello.txt"), "hello\n")] },
        { text: "Written." },
      ],
    },
    {
      when: "write the secret",
      steps: [{ calls: [tools.write(join(project, "secret.txt"), "no\n")] }, { text: "Over." }],
    },
    { when: "talk for ever", steps: [{ text: "This goes on and on and on and on, and", hangs: true }] },
    {
      when: "what was said",
      steps: [({ prompts }) => ({ text: `You said: ${prompts.join(" | ").slice(0, 20_000)}` })],
    },
    {
      when: "run it",
      steps: [
        { calls: [tools.run("touch copy.txt && echo from-the-shell")] },
        ({ results }) => ({
          text: results.at(-1)?.includes("from-the-shell") ? "It ran." : "It did not run.",
        }),
      ],
    },
    ...(tools.plan
      ? [{ when: "make a plan", steps: [{ calls: [tools.plan("Look", "Write")] }, { text: "Planned." }] }]
      : []),
    {
      when: "ask the server",
      steps: [
        { calls: [{ ...tools.mcp, input: { message: "hello server" } }] },
        ({ results }) => ({ text: `It said: ${results.at(-1)}` }),
      ],
    },
    { when: "tell the key", steps: [{ text: "It is sk-lab-0123456789abcdef, in pieces.", pieceChars: 7 }] },
  ];
}
