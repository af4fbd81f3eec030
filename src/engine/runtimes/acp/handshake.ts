import { version } from "../../../lib/version.ts";
import { acpLimits } from "./acp-limits.ts";
import type { AcpAgentInfo, AcpAgentSpec, McpServerSpec } from "./agent-spec.ts";
import { AgentRefusal, type Connection, NoAnswer } from "./connection.ts";
import { authRequired, loginProblem, refusalText, shownName, wrongVersion } from "./problem-text.ts";
import { listOf, objectOf, type RawObject, textOf } from "./raw-values.ts";
import type { Redact } from "./redact.ts";

const protocolVersion = 1;

/** What an agent said of itself. */
export interface Greeting extends AcpAgentInfo {
  readonly canLoad: boolean;
  readonly canResumeDirectly: boolean;
  readonly embeddedContext: boolean;
  readonly mcpHttp: boolean;
  /**
   * Takes a file that is not there for one that cannot be read, and so never makes a new one (Gemini CLI up to 0.61): it is
   * told that such a file is empty, as its own editor does.
   */
  readonly missingIsEmpty: boolean;
  /** The ways to log in that `authenticate` takes. */
  readonly authIds: readonly string[];
}

/** Says hello. Throws `SallyportError` for another version of the protocol, and what `request` throws. */
export async function initialize(
  connection: Connection,
  spec: AcpAgentSpec,
  signal: AbortSignal,
): Promise<Greeting> {
  const answer = objectOf(
    await connection.request(
      "initialize",
      {
        protocolVersion,
        clientCapabilities: {
          fs: { readTextFile: true, writeTextFile: true },
          terminal: true,
          elicitation: { form: {} },
        },
        clientInfo: { name: "sallyport", title: "Sallyport", version },
      },
      { timeoutMs: acpLimits.initializeMs, signal },
    ),
  );
  if (answer.protocolVersion !== protocolVersion) throw wrongVersion(spec, answer.protocolVersion);
  const capabilities = objectOf(answer.agentCapabilities);
  const prompts = objectOf(capabilities.promptCapabilities);
  const sessions = objectOf(capabilities.sessionCapabilities);
  const info = objectOf(answer.agentInfo);
  const methods = listOf(answer.authMethods, 20).map(objectOf);
  const canLoad = capabilities.loadSession === true;
  const canResumeDirectly = typeof sessions.resume === "object" && sessions.resume !== null;
  return {
    agent: shownName(info.title) ?? shownName(info.name),
    version: textOf(info.version, 100),
    canLoad,
    canResumeDirectly,
    canResume: canLoad || canResumeDirectly,
    takesImages: prompts.image === true,
    embeddedContext: prompts.embeddedContext === true,
    missingIsEmpty: info.name === "gemini-cli",
    mcpHttp: objectOf(capabilities.mcpCapabilities).http === true,
    authMethods: methods.flatMap(({ name, id }) => shownName(name) ?? shownName(id) ?? []),
    keyVariables: methods.flatMap(variablesOf),
    authIds: methods.flatMap(({ id, type }) => (typeof id === "string" && type !== "terminal" ? [id] : [])),
  };
}

/** Of a way to log in by variables of the environment, which the protocol is still about to fix. */
function variablesOf({ type, vars, varName }: RawObject): string[] {
  if (type !== "env_var") return [];
  return [...listOf(vars, 10).map((each) => objectOf(each).name), varName].flatMap((name) =>
    typeof name === "string" && /^[A-Za-z_][A-Za-z0-9_]{0,99}$/.test(name) ? [name] : [],
  );
}

export interface OpenOptions {
  readonly connection: Connection;
  readonly greeting: Greeting;
  readonly spec: AcpAgentSpec;
  readonly redact: Redact;
  readonly signal: AbortSignal;
}

/**
 * Sends a request that opens a session. Where the agent demands a login, it is asked to authenticate first, by the method
 * of the configuration or the only one that it has; then once more. Throws `SallyportError` that names the login command.
 */
export async function openWithLogin(options: OpenOptions, method: string, params: unknown): Promise<unknown> {
  const { connection, greeting, spec, redact, signal } = options;
  const open = (): Promise<unknown> =>
    connection.request(method, params, { timeoutMs: acpLimits.sessionMs, signal });
  try {
    return await open();
  } catch (error) {
    if (!(error instanceof AgentRefusal) || error.code !== authRequired) throw error;
    const methodId = spec.authMethod ?? (greeting.authIds.length === 1 ? greeting.authIds[0] : undefined);
    if (methodId === undefined) throw loginProblem(spec, greeting, refusalText(error, redact));
    try {
      await connection.request("authenticate", { methodId }, { timeoutMs: acpLimits.authenticateMs, signal });
      return await open();
    } catch (again) {
      if (again instanceof NoAnswer) throw loginProblem(spec, greeting, null);
      if (!(again instanceof AgentRefusal)) throw again;
      throw loginProblem(spec, greeting, refusalText(again, redact));
    }
  }
}

/** The servers of the configuration as the agent takes them; those by URL only where it can. */
export function mcpServersFor(
  servers: readonly McpServerSpec[],
  can: { readonly mcpHttp: boolean },
): readonly unknown[] {
  return servers.flatMap((server): unknown[] => {
    if (server.kind === "stdio")
      return [{ name: server.name, command: server.command, args: [...server.args], env: pairs(server.env) }];
    return can.mcpHttp
      ? [{ type: "http", name: server.name, url: server.url, headers: pairs(server.headers) }]
      : [];
  });
}

function pairs(values: Readonly<Record<string, string>>): readonly { name: string; value: string }[] {
  return Object.entries(values).map(([name, value]) => ({ name, value }));
}
