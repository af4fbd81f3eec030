import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { LabAgent } from "../helpers/agent-lab.ts";
import type { ToolCall } from "../helpers/model-server/reply.ts";
import { labScenes } from "./scenes.ts";

/** What can be tried with an agent; the names are the columns of the table in docs/agents.md. */
export const features = [
  "turn",
  "permission",
  "denial",
  "cancel",
  "resume",
  "restart",
  "command",
  "plan",
  "mcp",
  "keys",
  "end",
] as const;
export type Feature = (typeof features)[number];

export interface TestedAgent {
  readonly title: string;
  readonly package: string;
  readonly version: string;
  /** Its package needs its install script. */
  readonly needsScripts?: boolean;
  /** What it does not have by itself, with the reason. */
  readonly lacks: Partial<Readonly<Record<Feature, string>>>;
  readonly lab: (folder: string) => LabAgent;
}

const key = "sk-lab-0123456789abcdef";
const program = (folder: string, name: string): string => join(folder, "node_modules", ".bin", name);

/** The tools of an agent, by what the scenes want. */
export interface AgentTools {
  readonly write: (path: string, content: string) => ToolCall;
  readonly run: (command: string) => ToolCall;
  readonly plan: ((first: string, second: string) => ToolCall) | null;
  /** The tool `echo` of the MCP server `everything`. */
  readonly mcp: { readonly name: string; readonly namespace?: string };
}

const geminiTools: AgentTools = {
  write: (path, content) => ({ name: "write_file", input: { file_path: path, content } }),
  run: (command) => ({ name: "run_shell_command", input: { command, is_background: false } }),
  plan: (first, second) => ({
    name: "todo_write",
    input: {
      todos: [
        { id: "1", content: first, status: "in_progress" },
        { id: "2", content: second, status: "pending" },
      ],
    },
  }),
  mcp: { name: "mcp__everything__echo" },
};

export const testedAgents: Readonly<Record<string, TestedAgent>> = {
  qwen: {
    title: "Qwen Code",
    package: "@qwen-code/qwen-code",
    version: "0.15.10",
    lacks: {},
    lab: (folder) => ({
      name: "qwen",
      command: program(folder, "qwen"),
      args: ["--acp", "--auth-type=openai"],
      env: (url) => ({ OPENAI_BASE_URL: `${url}/v1`, OPENAI_MODEL: "test-model" }),
      keys: { OPENAI_API_KEY: key },
      scenes: labScenes(geminiTools),
      prepare: (home) =>
        settings(home, ".qwen", {
          privacy: { usageStatisticsEnabled: false },
          general: { enableAutoUpdate: false, disableAutoUpdate: true },
        }),
    }),
  },
  gemini: {
    title: "Gemini CLI",
    package: "@google/gemini-cli",
    version: "0.61.0",
    lacks: { plan: "its todo list is not sent" },
    lab: (folder) => ({
      name: "gemini",
      command: program(folder, "gemini"),
      args: ["--acp", "-m", "gemini-2.5-flash"],
      env: (url) => ({
        GOOGLE_GEMINI_BASE_URL: url,
        GEMINI_CLI_NO_RELAUNCH: "true",
        // It starts MCP servers in folders only that it trusts itself.
        GEMINI_CLI_TRUST_WORKSPACE: "true",
      }),
      keys: { GEMINI_API_KEY: key },
      scenes: labScenes({ ...geminiTools, plan: null, mcp: { name: "mcp_everything_echo" } }),
      prepare: (home) =>
        settings(home, ".gemini", {
          privacy: { usageStatisticsEnabled: false },
          general: { enableAutoUpdate: false, disableAutoUpdate: true },
          telemetry: { enabled: false },
        }),
    }),
  },
  claude: {
    title: "Claude Agent",
    package: "@agentclientprotocol/claude-agent-acp",
    version: "0.49.0",
    lacks: {},
    lab: (folder) => ({
      name: "claude",
      command: program(folder, "claude-agent-acp"),
      args: [],
      env: (url) => ({
        ANTHROPIC_BASE_URL: url,
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
        DISABLE_TELEMETRY: "1",
        DISABLE_ERROR_REPORTING: "1",
        IS_SANDBOX: "1",
      }),
      keys: { ANTHROPIC_API_KEY: key },
      scenes: labScenes({
        write: (path, content) => ({ name: "Write", input: { file_path: path, content } }),
        run: (command) => ({ name: "Bash", input: { command, description: "Try it" } }),
        plan: (first, second) => ({
          name: "TodoWrite",
          input: {
            todos: [
              { content: first, activeForm: first, status: "in_progress" },
              { content: second, activeForm: second, status: "pending" },
            ],
          },
        }),
        mcp: { name: "mcp__everything__echo" },
      }),
    }),
  },
  codex: {
    title: "Codex",
    package: "@zed-industries/codex-acp",
    version: "0.16.0",
    lacks: {},
    lab: (folder) => ({
      name: "codex",
      command: program(folder, "codex-acp"),
      args: [],
      env: () => ({}),
      keys: { LAB_API_KEY: key },
      scenes: labScenes({
        write: (path, content) => ({
          name: "exec_command",
          input: { cmd: `printf '${content.replaceAll("\n", "\\n")}' > ${path}` },
        }),
        run: (command) => ({ name: "exec_command", input: { cmd: command } }),
        plan: (first, second) => ({
          name: "update_plan",
          input: {
            plan: [
              { step: first, status: "in_progress" },
              { step: second, status: "pending" },
            ],
          },
        }),
        mcp: { name: "echo", namespace: "mcp__everything" },
      }),
      async prepare(home, url) {
        await mkdir(join(home, ".codex"));
        const lines = [
          'model = "test-model"',
          'model_provider = "lab"',
          'approval_policy = "untrusted"',
          'sandbox_mode = "danger-full-access"',
          "[model_providers.lab]",
          'name = "lab"',
          `base_url = "${url}/v1"`,
          'env_key = "LAB_API_KEY"',
          'wire_api = "responses"',
        ];
        await writeFile(join(home, ".codex", "config.toml"), lines.join("\n"));
      },
    }),
  },
  opencode: {
    title: "OpenCode",
    package: "opencode-ai",
    version: "1.18.33",
    needsScripts: true,
    lacks: { plan: "its todo list comes as an ordinary tool call" },
    lab: (folder) => ({
      name: "opencode",
      command: program(folder, "opencode"),
      args: ["acp"],
      env: (url) => ({
        OPENCODE_DISABLE_AUTOUPDATE: "true",
        OPENCODE_DISABLE_MODELS_FETCH: "true",
        OPENCODE_CONFIG_CONTENT: JSON.stringify({
          model: "test/test-model",
          small_model: "test/test-model",
          autoupdate: false,
          share: "disabled",
          permission: { edit: "ask", bash: "ask" },
          provider: {
            test: {
              npm: "@ai-sdk/openai-compatible",
              name: "Test",
              options: { baseURL: `${url}/v1`, apiKey: "{env:LAB_API_KEY}" },
              models: {
                "test-model": { name: "Test", tool_call: true, limit: { context: 100_000, output: 8_000 } },
              },
            },
          },
        }),
      }),
      keys: { LAB_API_KEY: key },
      scenes: labScenes({
        write: (path, content) => ({ name: "write", input: { filePath: path, content } }),
        run: (command) => ({ name: "bash", input: { command, description: "Try it" } }),
        plan: (first, second) => ({
          name: "todowrite",
          input: {
            todos: [
              { id: "1", content: first, priority: "high", status: "in_progress" },
              { id: "2", content: second, priority: "low", status: "pending" },
            ],
          },
        }),
        mcp: { name: "everything_echo" },
      }),
    }),
  },
};

async function settings(home: string, folder: string, value: unknown): Promise<void> {
  await mkdir(join(home, folder));
  await writeFile(join(home, folder, "settings.json"), JSON.stringify(value));
}
