import type { Config } from "../../config/config.ts";
import type { Credentials } from "../../config/credentials.ts";
import type { AcpAgentSpec, McpServerSpec } from "../../engine/runtimes/acp/agent-spec.ts";
import { keyCommand } from "./agent-keys.ts";
import { agentPath, type FoundAgent } from "./find-agents.ts";

/**
 * How an agent is started: what it needs by itself, then the settings of the configuration, then its own keys. Keys of
 * other agents are not among them.
 */
export function agentSpec(
  found: FoundAgent,
  options: {
    readonly credentials: Credentials;
    readonly environment: Readonly<Record<string, string | undefined>>;
  },
): AcpAgentSpec {
  const { name, title, known } = found;
  return {
    name,
    title,
    command: found.path ?? found.command,
    args: found.args,
    env: {
      PATH: agentPath(found, options.environment),
      ...known?.env,
      ...found.env,
      ...options.credentials.agents[name],
    },
    secrets: Object.values(options.credentials.agents[name] ?? {}),
    loginHint: known?.login ?? null,
    keyHint: keyCommand(found),
    authMethod: null,
  };
}

/** The servers that every agent is told of, with their keys. */
export function mcpServerSpecs(
  config: Pick<Config, "mcpServers">,
  credentials: Credentials,
): readonly McpServerSpec[] {
  return Object.entries(config.mcpServers).map(([name, server]): McpServerSpec => {
    const keys = credentials.mcpServers[name];
    return server.kind === "http"
      ? { name, kind: "http", url: server.url, headers: { ...server.headers, ...keys } }
      : {
          name,
          kind: "stdio",
          command: server.command,
          args: server.args,
          env: { ...server.env, ...keys },
        };
  });
}
