import type { Credentials } from "../../config/credentials.ts";
import type { FoundAgent } from "./find-agents.ts";

/** Where an agent's key comes from, in words; the key itself is not looked at. Null: it has none that we know of. */
export function keySource(
  { name, env, known }: Pick<FoundAgent, "name" | "env" | "known">,
  credentials: Credentials,
  environment: Readonly<Record<string, string | undefined>>,
): string | null {
  const [kept] = Object.keys(credentials.agents[name] ?? {});
  if (kept !== undefined) return `${kept} of credentials.toml`;
  const keys = known?.keys ?? [];
  const written = keys.find((key) => env[key] !== undefined);
  if (written !== undefined) return `${written} of config.toml`;
  const inherited = keys.find((key) => (environment[key] ?? "") !== "");
  return inherited === undefined ? null : `${inherited} of the environment`;
}

/** Everything that the file holds, for the log to strike out. */
export function keptSecrets({ agents, mcpServers }: Credentials): readonly string[] {
  return [...Object.values(agents), ...Object.values(mcpServers)].flatMap((values) => Object.values(values));
}
