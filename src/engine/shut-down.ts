import type { StateFile } from "../lib/state-file.ts";
import type { Agents } from "./agents/agents.ts";
import type { TurnEndReason } from "./agents/live-agent.ts";
import { engineLimits } from "./engine-limits.ts";
import type { ReceiptStore } from "./receipts/receipt-store.ts";
import type { Runtime } from "./runtimes/runtime.ts";
import type { WorkspaceStore } from "./workspaces/workspace-store.ts";

export interface ShutDownOptions {
  readonly agents: Agents;
  readonly receipts: ReceiptStore;
  readonly store: WorkspaceStore;
  readonly state: Pick<StateFile, "drained">;
  readonly runtimes: ReadonlyMap<string, Runtime>;
  readonly report: (problem: string) => void;
}

/** Ends running turns (`failed`, with the reason) and writes out what is left. A reserved turn is ended at the next load. */
export async function shutDown(options: ShutDownOptions): Promise<void> {
  const { agents, report } = options;
  const running = agents.list().flatMap((agent) => agent.current ?? []);
  for (const turn of running) turn.controller.abort("shutdown" satisfies TurnEndReason);
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, engineLimits.cancelWaitMs);
  });
  await Promise.race([Promise.all(running.map((turn) => turn.ended)), timeout]);
  clearTimeout(timer);
  await Promise.all(
    [...options.runtimes.values()].map((runtime) =>
      runtime.close?.().catch((error: Error) => report(`${runtime.name} did not end well: ${error.message}`)),
    ),
  );
  await options.receipts.close();
  await Promise.all(agents.list().map((agent) => agent.transcript.release()));
  await options.store
    .close()
    .catch((error: Error) => report(`workspaces could not be saved: ${error.message}`));
  // Which workspace was used last is written without anybody waiting for it.
  await options.state.drained();
}
