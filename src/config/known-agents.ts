/** An agent that speaks the Agent Client Protocol and that is looked for on this machine. */
export interface KnownAgent {
  /** Name of its runtime. */
  readonly name: string;
  readonly title: string;
  /** Its programs, the newest name first. */
  readonly programs: readonly string[];
  /** What makes it speak the protocol on stdin and stdout. */
  readonly args: readonly string[];
  /** Variables that it needs to be a good child. */
  readonly env?: Readonly<Record<string, string>>;
  /** Variables that hold its key, the usual one first. */
  readonly keys: readonly string[];
  /** What a person runs once to log in. */
  readonly login: string | null;
  readonly install: string;
}

/**
 * From the agents' own manuals and the registry of the protocol (agentclientprotocol.com). One that is not here is named in
 * the configuration.
 */
export const knownAgents: readonly KnownAgent[] = [
  {
    name: "claude",
    title: "Claude Agent",
    programs: ["claude-agent-acp", "claude-code-acp"],
    args: [],
    keys: ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"],
    login: "claude /login",
    install: "npm install -g @agentclientprotocol/claude-agent-acp",
  },
  {
    name: "codex",
    title: "Codex",
    programs: ["codex-acp"],
    args: [],
    keys: ["OPENAI_API_KEY", "CODEX_API_KEY"],
    login: "codex login",
    install: "npm install -g @zed-industries/codex-acp",
  },
  {
    name: "gemini",
    title: "Gemini CLI",
    programs: ["gemini"],
    args: ["--acp"],
    // Else a parent of its own stands in between, which hears no SIGTERM.
    env: { GEMINI_CLI_NO_RELAUNCH: "true" },
    keys: ["GEMINI_API_KEY", "GOOGLE_API_KEY"],
    login: "gemini",
    install: "npm install -g @google/gemini-cli",
  },
  {
    name: "qwen",
    title: "Qwen Code",
    programs: ["qwen"],
    args: ["--acp"],
    keys: ["OPENAI_API_KEY", "DASHSCOPE_API_KEY"],
    login: "qwen auth",
    install: "npm install -g @qwen-code/qwen-code",
  },
  {
    name: "opencode",
    title: "OpenCode",
    programs: ["opencode"],
    args: ["acp"],
    keys: ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY", "OPENCODE_API_KEY"],
    login: "opencode auth login",
    install: "npm install -g opencode-ai",
  },
  {
    name: "goose",
    title: "goose",
    programs: ["goose"],
    args: ["acp"],
    keys: ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "OPENROUTER_API_KEY"],
    login: "goose configure",
    install: "see https://block.github.io/goose",
  },
  {
    name: "copilot",
    title: "GitHub Copilot",
    programs: ["copilot"],
    args: ["--acp"],
    keys: ["COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN"],
    login: "copilot login",
    install: "npm install -g @github/copilot",
  },
  {
    name: "cursor",
    title: "Cursor",
    programs: ["cursor-agent"],
    args: ["acp"],
    keys: ["CURSOR_API_KEY"],
    login: "cursor-agent login",
    install: "see https://cursor.com/docs/cli",
  },
  {
    name: "auggie",
    title: "Auggie",
    programs: ["auggie"],
    args: ["--acp"],
    env: { AUGMENT_DISABLE_AUTO_UPDATE: "1" },
    keys: ["AUGMENT_SESSION_AUTH"],
    login: "auggie login",
    install: "npm install -g @augmentcode/auggie",
  },
  {
    name: "kimi",
    title: "Kimi CLI",
    programs: ["kimi"],
    args: ["acp"],
    keys: ["KIMI_API_KEY"],
    login: "kimi login",
    install: "uv tool install kimi-cli",
  },
  {
    name: "vibe",
    title: "Mistral Vibe",
    programs: ["vibe-acp"],
    args: [],
    keys: ["MISTRAL_API_KEY"],
    login: "vibe --setup",
    install: "uv tool install mistral-vibe",
  },
  {
    name: "cline",
    title: "Cline",
    programs: ["cline"],
    args: ["--acp"],
    keys: ["CLINE_API_KEY"],
    login: "cline auth",
    install: "npm install -g cline",
  },
  {
    name: "droid",
    title: "Factory Droid",
    programs: ["droid"],
    args: ["exec", "--output-format", "acp"],
    env: { DROID_DISABLE_AUTO_UPDATE: "true", FACTORY_DROID_AUTO_UPDATE_ENABLED: "false" },
    keys: ["FACTORY_API_KEY"],
    login: "droid",
    install: "npm install -g droid",
  },
  {
    name: "junie",
    title: "Junie",
    programs: ["junie"],
    args: ["--acp=true"],
    keys: ["JUNIE_API_KEY"],
    login: "junie",
    install: "see https://junie.jetbrains.com",
  },
  {
    name: "kilo",
    title: "Kilo Code",
    programs: ["kilo"],
    args: ["acp"],
    keys: ["KILO_API_KEY"],
    login: "kilo auth login",
    install: "npm install -g @kilocode/cli",
  },
];

/** The known agent of this name, or the one whose program is this: `/opt/bin/qwen` is Qwen Code. */
export function knownAgent(by: { readonly name?: string; readonly command?: string }): KnownAgent | null {
  const program = by.command?.split("/").at(-1) ?? null;
  return (
    knownAgents.find(({ name }) => name === by.name) ??
    knownAgents.find(({ programs }) => program !== null && programs.includes(program)) ??
    null
  );
}
