import { runAgent } from "../../engine/runtimes/acp/acp-session.ts";
import type { AcpAgentInfo, AcpAgentSpec } from "../../engine/runtimes/acp/agent-spec.ts";
import { RefuseAgent } from "../../engine/runtimes/acp/connection.ts";

/**
 * Starts an agent in a folder, lets it say what it is and can, and ends it; no session is opened and nothing is prompted.
 * Rejects with `SallyportError` whose message says why it does not run and what to do.
 */
export async function probeAgent(
  spec: AcpAgentSpec,
  options: {
    readonly environment: Readonly<Record<string, string | undefined>>;
    /** An empty folder: what a project brings along must not be run for this. */
    readonly cwd: string;
    readonly timeoutMs: number;
  },
): Promise<AcpAgentInfo> {
  const running = await runAgent({
    spec,
    cwd: options.cwd,
    deps: options,
    signal: AbortSignal.timeout(options.timeoutMs),
    onRequest: async () => {
      throw new RefuseAgent(-32601, "This agent is only asked how it is.");
    },
    onNotification: async () => undefined,
    onError: () => undefined,
  });
  running.connection.close("it was only asked how it is");
  await running.process.stop();
  const { agent, version, canResume, takesImages, authMethods, keyVariables } = running.greeting;
  return { agent, version, canResume, takesImages, authMethods, keyVariables };
}
