import type { Config } from "../../config/config.ts";
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

/** The command that keeps a key for an agent; null where it is not known which variable it reads. */
export function keyCommand({ name, known }: Pick<FoundAgent, "name" | "known">): string | null {
  const [variable] = known?.keys ?? [];
  if (variable === undefined) return null;
  // By its own name the variable is known.
  return name === known?.name ? `sallyport agents key ${name}` : `sallyport agents key ${name} ${variable}`;
}

/** Names of variables and headers whose values are secrets, wherever they are written. */
const secretName = /KEY|TOKEN|SECRET|PASSW|CREDENTIAL|AUTH/i;
/** Shorter ones would strike ordinary words out of what is shown. */
const minChars = 8;

/** Everything that credentials.toml holds; of a header such as `Bearer …` also what stands behind its scheme. */
export function keptSecrets({ agents, mcpServers }: Credentials): readonly string[] {
  return secrets([...Object.values(agents), ...Object.values(mcpServers)].flatMap(Object.values));
}

/** What is called like a secret in the configuration and in the environment of the daemon. */
export function writtenSecrets(
  config: Pick<Config, "agents" | "mcpServers">,
  environment: Readonly<Record<string, string | undefined>>,
): readonly string[] {
  const written = [
    ...Object.values(config.agents).map(({ env }) => env),
    ...Object.values(config.mcpServers).map((server) =>
      server.kind === "http" ? server.headers : server.env,
    ),
    environment,
  ];
  return secrets(
    written.flatMap((values) =>
      Object.entries(values).flatMap(([name, value]) =>
        // A path or a number says where or how many (`XAUTHORITY`, `MAX_TOKENS`).
        value === undefined || !secretName.test(name) || /^(\/.*|\d+)$/.test(value) ? [] : [value],
      ),
    ),
  );
}

function secrets(values: readonly string[]): readonly string[] {
  const all = values.flatMap((value) => [value, value.replace(/^[A-Za-z]+ +/, "")]);
  return [...new Set(all)].filter((value) => value.length >= minChars);
}
