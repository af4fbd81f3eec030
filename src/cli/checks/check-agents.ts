import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Config } from "../../config/config.ts";
import { type Credentials, CredentialsError, loadCredentials } from "../../config/credentials.ts";
import type { HomePaths } from "../../config/home-paths.ts";
import { aboutAgent } from "../../daemon/agents/about-agent.ts";
import { keySource } from "../../daemon/agents/agent-keys.ts";
import { agentSpec } from "../../daemon/agents/agent-spec.ts";
import { type FoundAgent, findAgents } from "../../daemon/agents/find-agents.ts";
import { probeAgent } from "../../daemon/agents/probe-agent.ts";
import { SallyportError } from "../../errors.ts";
import { type Finding, fail, ok, warn } from "./finding.ts";

type Env = Readonly<Record<string, string | undefined>>;

const check = "agent";
const probeMs = 30_000;
/** Each may take hundreds of megabytes while it says hello. */
const atOnce = 2;

/** Are the keys of agents usable? None of them is shown. */
export function checkCredentials(paths: HomePaths): {
  readonly finding: Finding;
  readonly credentials: Credentials | null;
} {
  try {
    const credentials = loadCredentials(paths.credentials);
    const names = [...Object.keys(credentials.agents), ...Object.keys(credentials.mcpServers)];
    const finding = ok(
      "keys",
      names.length === 0
        ? `${paths.credentials} holds no keys; agents use logins and keys of their own`
        : `${paths.credentials} holds keys for ${names.join(", ")}`,
    );
    return { finding, credentials };
  } catch (error) {
    if (!(error instanceof CredentialsError)) throw error;
    return { finding: fail("keys", error.message, null), credentials: null };
  }
}

/** The coding agents that can be chosen: which, from where, and does each start and speak the protocol? */
export async function checkAgents(
  env: Env,
  config: Config | null,
  credentials: Credentials | null,
): Promise<readonly Finding[]> {
  if (config === null) return [];
  const found = findAgents({ config, environment: env });
  if (found.length === 0)
    return [
      ok(
        check,
        "none is set up; prompts are run as command lines. Install one (docs/agents.md), or name it in config.toml: [agents.NAME]",
      ),
    ];
  const folder = await mkdtemp(join(tmpdir(), "sallyport-doctor-"));
  const findings: Finding[] = [];
  try {
    for (let from = 0; from < found.length; from += atOnce)
      findings.push(
        ...(await Promise.all(
          found.slice(from, from + atOnce).map((agent) => checkAgent(agent, env, credentials, folder)),
        )),
      );
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  return findings;
}

async function checkAgent(
  agent: FoundAgent,
  env: Env,
  credentials: Credentials | null,
  folder: string,
): Promise<Finding> {
  // One that the configuration names is meant to work; one that is only installed may never be used.
  const bad = agent.source === "config" ? fail : warn;
  if (agent.path === null) {
    const { message, next } = aboutAgent(agent, null, null);
    return bad(check, `${agent.name}: ${message}`, next);
  }
  if (credentials === null) return warn(check, `${agent.name}: was not tried without its keys`, null);
  const options = { credentials, environment: env };
  try {
    const info = await probeAgent(agentSpec(agent, options), {
      environment: env,
      cwd: folder,
      timeoutMs: probeMs,
    });
    const facts = [
      `${agent.path} starts and speaks the protocol`,
      info.canResume ? null : "cannot go on with earlier sessions",
      useOf(keySource(agent, credentials, env), agent),
    ];
    const title = [info.agent ?? agent.title, info.version].filter((each) => each !== null).join(" ");
    return ok(check, `${agent.name} (${title}): ${facts.filter((each) => each !== null).join("; ")}`);
  } catch (error) {
    if (!(error instanceof SallyportError)) throw error;
    return bad(check, `${agent.name}: ${error.message}`, agent.known?.login ?? null);
  }
}

function useOf(source: string | null, { known }: FoundAgent): string | null {
  if (source !== null) return `uses ${source}`;
  return known?.login ? `if it asks for a login: ${known.login}` : null;
}
