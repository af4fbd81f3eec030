import type { Action } from "../state/actions.ts";
import { useActions } from "../state/actions.ts";
import { navigate } from "../state/router.ts";
import { useSession } from "../state/session.ts";
import { visible } from "../ui/visible-text.ts";
import { agentName } from "../work/agent-name.ts";
import { startAgent } from "../work/start-agent.ts";

/** Offers every conversation, and a new one in every folder, to the palette. */
export function useAgentActions(): void {
  const session = useSession();
  const tabs = session.tabs.value;
  const mayDrive = session.may("drive");
  const activeTab = session.workspace.value?.active_tab ?? null;
  useActions(
    "agents",
    [
      ...tabs.flatMap((tab) =>
        tab.agents.map(
          (agent): Action => ({
            id: `agent ${agent.id}`,
            label: agentName(agent),
            section: visible(tab.name),
            words: `conversation agent ${agent.state}`,
            run: () => navigate(`/agent/${agent.id}`),
          }),
        ),
      ),
      ...(mayDrive ? tabs : []).map(
        (tab): Action => ({
          id: `new ${tab.id}`,
          label: `New conversation in ${visible(tab.name)}`,
          section: "Start",
          ...(tab.id === activeTab ? { keys: "c" } : {}),
          run: () => void startAgent(session, tab.id),
        }),
      ),
    ],
    [tabs, mayDrive, activeTab],
  );
}
