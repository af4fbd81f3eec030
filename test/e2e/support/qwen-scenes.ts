import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Scene } from "../../helpers/model-server/reply.ts";

/** Without a word to its makers. */
export async function prepareQwen(userHome: string): Promise<void> {
  await mkdir(join(userHome, ".qwen"));
  const settings = {
    privacy: { usageStatisticsEnabled: false },
    general: { enableAutoUpdate: false, disableAutoUpdate: true },
    telemetry: { enabled: false },
  };
  await writeFile(join(userHome, ".qwen", "settings.json"), JSON.stringify(settings));
}

/** What the model of Qwen Code says in the tests: a scene a prompt, with the tools of that agent. */
export function qwenScenes(project: string): readonly Scene[] {
  const write = (name: string, content: string) => ({
    name: "write_file",
    input: { file_path: join(project, name), content },
  });
  return [
    {
      when: "write it",
      steps: [
        {
          thinking: "A file, then.",
          text: "I write the file now.",
          calls: [write("hello.txt", "hello\n")],
        },
        { text: "Written." },
      ],
    },
    {
      when: "write the secret",
      steps: [
        { calls: [write("secret.txt", "no\n")] },
        ({ results }) => ({ text: results.at(-1)?.includes("cancel") ? "Then not." : "Written." }),
      ],
    },
    { when: "talk for ever", steps: [{ text: "This goes on and on and on and on, and", hangs: true }] },
    { when: "wait for me", steps: [{ calls: [write("waits.txt", "no\n")] }, { text: "Over." }] },
    { when: "tell the key", steps: [{ text: "It is sk-lab-0123456789abcdef, in pieces.", pieceChars: 7 }] },
    { when: "what was said", steps: [({ prompts }) => ({ text: `You said: ${prompts.join(" | ")}` })] },
    {
      when: "make a plan",
      steps: [
        {
          calls: [
            {
              name: "todo_write",
              input: {
                todos: [
                  { id: "1", content: "Look", status: "in_progress" },
                  { id: "2", content: "Write", status: "pending" },
                ],
              },
            },
          ],
        },
        { text: "Planned." },
      ],
    },
    {
      when: "run it",
      steps: [
        {
          calls: [
            {
              name: "run_shell_command",
              input: { command: "cp hello.txt copy.txt && echo from-the-shell", is_background: false },
            },
          ],
        },
        ({ results }) => ({
          text: results.at(-1)?.includes("from-the-shell") ? "It ran." : "It did not run.",
        }),
      ],
    },
    {
      when: "ask the server",
      steps: [
        { calls: [{ name: "mcp__everything__echo", input: { message: "hello server" } }] },
        ({ results }) => ({ text: `It said: ${results.at(-1)}` }),
      ],
    },
    {
      when: "ask me",
      steps: [
        {
          calls: [
            {
              name: "ask_user_question",
              input: {
                questions: [
                  {
                    question: "Which store?",
                    header: "Store",
                    multiSelect: false,
                    options: [
                      { label: "sqlite", description: "one file" },
                      { label: "postgres", description: "a server" },
                    ],
                  },
                ],
              },
            },
          ],
        },
        ({ results }) => ({ text: `You chose: ${results.at(-1)}` }),
      ],
    },
  ];
}
