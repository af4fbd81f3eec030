import { useSignal } from "@preact/signals";
import type { Agent, TabWithAgents } from "../../src/protocol/objects.ts";
import { useActions } from "../state/actions.ts";
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
import { OpenFolder } from "./open-folder.tsx";
import { startAgent } from "./start-agent.ts";
import { TabMenu } from "./tab-menu.tsx";
import { WorkspaceMenu } from "./workspace-menu.tsx";
import "./work-page.css";

/** Where work begins: the folders of the workspace, and the conversations in each. */
export function WorkPage() {
  const { workspace, workspaces, tabs, may } = useSession();
  const isOpening = useSignal(false);
  const mayDrive = may("drive");
  const open = (): void => {
    isOpening.value = true;
  };
  useActions(
    "work page",
    mayDrive ? [{ id: "open folder", label: "Open a folder", section: "Work", keys: "o", run: open }] : [],
    [mayDrive],
  );
  return (
    <Page
      title="Work"
      lead={workspaceLead(workspace.value?.name ?? defaultWorkspace, workspaces.value.length)}
      actions={
        <>
          {mayDrive && (
            <Button icon="folder" onClick={open}>
              Open a folder
            </Button>
          )}
          <WorkspaceMenu />
        </>
      }
    >
      {tabs.value.length === 0 && (
        <EmptyState icon="folder" title="No folder is open in this workspace">
          <p>
            Open one to work in it, or call <code>sallyport prompt</code> in it on the daemon's machine.
          </p>
        </EmptyState>
      )}
      {tabs.value.map((tab) => (
        <TabCard key={tab.id} tab={tab} />
      ))}
      {isOpening.value && <OpenFolder onClose={() => (isOpening.value = false)} />}
    </Page>
  );
}

/** What the daemon calls the first one; who has no other need not know that there are any. */
const defaultWorkspace = "main";

function workspaceLead(name: string, count: number): string | undefined {
  return count > 1 || name !== defaultWorkspace ? `Workspace ${visible(name)}` : undefined;
}

function TabCard({ tab }: { readonly tab: TabWithAgents }) {
  const session = useSession();
  const branch = tab.project?.branch;
  return (
    <section class="tab-card">
      <header>
        <Icon name="folder" />
        <div>
          <h2>{visible(tab.name)}</h2>
          <p class="tab-facts">
            <span>{visible(tab.cwd)}</span>
            {branch && (
              <span>
                <Icon name="branch" /> {visible(branch)}
              </span>
            )}
            <span>{modeWords[tab.mode]}</span>
            {tab.runtime !== "shell" && <span>{visible(tab.runtime)}</span>}
            {!tab.trusted && <span>Not trusted: only the shell runs here</span>}
          </p>
          {tab.note !== undefined && <p class="tab-facts">{visible(tab.note)}</p>}
        </div>
        {session.may("drive") && <TabMenu tab={tab} />}
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
