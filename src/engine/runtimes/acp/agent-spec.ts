import type { Jobs } from "../../jobs/jobs.ts";
import type { Runtime } from "../runtime.ts";

/** How an Agent Client Protocol agent is started. Made from the configuration or by discovery; read anew at each start. */
export interface AcpAgentSpec {
  /** Name of the runtime: what `agent_start` and tabs say. */
  readonly name: string;
  /** What people call it: "Qwen Code". */
  readonly title: string;
  /** Absolute path, or a name that is looked up in the PATH of the environment at each start. */
  readonly command: string;
  readonly args: readonly string[];
  /** Added to the daemon's environment (which loses every `SALLYPORT_*` first): settings and keys. Never shown or logged. */
  readonly env: Readonly<Record<string, string>>;
  /** Values in `env` that are secrets whatever their variable is called. */
  readonly secrets: readonly string[];
  /** The command that logs the user in, for the message of an agent that wants it: "qwen auth". Null: its own methods are named. */
  readonly loginHint: string | null;
  /** The command that keeps a key for it: "sallyport agents key qwen". Null: only the agent itself knows which variable it reads. */
  readonly keyHint: string | null;
  /** The method to `authenticate` with when the agent demands it; null: the only one that it offers, if there is one. */
  readonly authMethod: string | null;
}

/** A server of the Model Context Protocol that is passed on to agents: from the daemon's own configuration only. */
export type McpServerSpec =
  | {
      readonly name: string;
      readonly kind: "stdio";
      readonly command: string;
      readonly args: readonly string[];
      readonly env: Readonly<Record<string, string>>;
    }
  | {
      readonly name: string;
      readonly kind: "http";
      readonly url: string;
      readonly headers: Readonly<Record<string, string>>;
    };

export interface AcpRuntimeDeps {
  readonly jobs: Jobs;
  /** The environment that agents get, beside `env` of the spec. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Home of the daemon: nothing that an agent asks for resolves into it. */
  readonly homeFolder: string;
  readonly mcpServers: () => readonly McpServerSpec[];
  readonly now: () => number;
  /** A sentence for the log; never with text of the agent that may hold a secret. */
  readonly report: (problem: string) => void;
}

/** The ways to log in that an agent offers. */
export interface LoginWays {
  /** Their names. */
  readonly authMethods: readonly string[];
  /** Variables of its environment that it reads a key from. */
  readonly keyVariables: readonly string[];
}

/** What is known of an agent after it was started once, for health lines. */
export interface AcpAgentInfo extends LoginWays {
  /** Name and version that it gives itself. */
  readonly agent: string | null;
  readonly version: string | null;
  readonly canResume: boolean;
  readonly takesImages: boolean;
}

/** One ACP agent behind the interface of all runtimes; `createAcpRuntime(spec, deps)` makes it. */
export type AcpRuntime = Runtime;

/** `spec` throws `SallyportError` when the agent is not configured or installed any more. */
export type CreateAcpRuntime = (name: string, spec: () => AcpAgentSpec, deps: AcpRuntimeDeps) => AcpRuntime;
