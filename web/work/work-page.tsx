import type { Agent, TabWithAgents } from "../../src/protocol/objects.ts";
import { hrefOf } from "../state/router.ts";
import { useSession } from "../state/session.ts";
import { Button } from "../ui/button.tsx";
import { Icon } from "../ui/icon.tsx";
import { List, Row } from "../ui/list.tsx";
import { Page } from "../ui/page.tsx";
import { StateMark } from "../ui/state-mark.tsx";
import { EmptyState } from "../ui/states.tsx";
import { Time } from "../ui/time.tsx";
import { visible } from "../ui/visible-text.ts";
import { agentName } from "./agent-name.ts";
import { modeWords } from "./mode-words.ts";
import { startAgent } from "./start-agent.ts";
import "./work-page.css";

/** Where work begins: the folders of the workspace, and the conversations in each. */
export function WorkPage() {
  const { workspace, tabs } = useSession();
  return (
    <Page title={visible(workspace.value?.name ?? "Work")}>
      {tabs.value.length === 0 && (
        <EmptyState icon="folder" title="No folder is open in this workspace">
          <p>
            On the daemon's machine <code>sallyport prompt</code> opens the folder that it is called in.
          </p>
        </EmptyState>
      )}
      {tabs.value.map((tab) => (
        <TabCard key={tab.id} tab={tab} />
      ))}
    </Page>
  );
}

function TabCard({ tab }: { readonly tab: TabWithAgents }) {
  const session = useSession();
  const branch = tab.project?.branch;
  return (
    <section class="tab-card" aria-labelledby={`tab-${tab.id}`}>
      <header>
        <Icon name="folder" />
        <div>
          <h2 id={`tab-${tab.id}`}>{visible(tab.name)}</h2>
          <p class="tab-facts">
            <span>{visible(tab.cwd)}</span>
            {branch && (
              <span>
                <Icon name="branch" /> {visible(branch)}
              </span>
            )}
            <span>{modeWords[tab.mode]}</span>
          </p>
        </div>
      </header>
      <List label={`Conversations in ${visible(tab.name)}`}>
        {tab.agents
          .filter(({ parent }) => parent === null)
          .map((agent) => (
            <AgentRow key={agent.id} agent={agent} />
          ))}
      </List>
      {session.may("drive") && (
        <Button kind="quiet" icon="plus" onClick={() => void startAgent(session, tab.id)}>
          New conversation
        </Button>
      )}
    </section>
  );
}

function AgentRow({ agent }: { readonly agent: Agent }) {
  return (
    <Row
      href={hrefOf(`/agent/${agent.id}`)}
      title={agentName(agent)}
      detail={
        <span class="agent-facts">
          <StateMark state={agent.state} />
          <span>
            <Time at={agent.updated} />
          </span>
          {agent.model && <span>{visible(agent.model)}</span>}
        </span>
      }
    />
  );
}
