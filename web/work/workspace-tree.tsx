import type { Agent, TabWithAgents } from "../../src/protocol/objects.ts";
import { hrefOf, match, path } from "../state/router.ts";
import { useSession } from "../state/session.ts";
import { classes } from "../ui/classes.ts";
import { Icon } from "../ui/icon.tsx";
import { StateMark } from "../ui/state-mark.tsx";
import { visible } from "../ui/visible-text.ts";
import { agentName } from "./agent-name.ts";
import "./workspace-tree.css";

/** The tabs of the workspace with their agents and what each does at the moment. */
export function WorkspaceTree() {
  const { tabs } = useSession();
  return (
    <div class="workspace-tree">
      {tabs.value.map((tab) => (
        <TabBranch key={tab.id} tab={tab} />
      ))}
    </div>
  );
}

function TabBranch({ tab }: { readonly tab: TabWithAgents }) {
  const branch = tab.project?.branch;
  const main = tab.agents.filter(({ parent }) => parent === null);
  return (
    <div class="tree-tab">
      <h3>
        <Icon name="folder" />
        <span>{visible(tab.name)}</span>
        {branch && (
          <small>
            <Icon name="branch" />
            {visible(branch)}
          </small>
        )}
      </h3>
      <p class="tree-folder">{visible(tab.cwd)}</p>
      <ul>
        {main.map((agent) => (
          <AgentLeaf key={agent.id} agent={agent} all={tab.agents} />
        ))}
      </ul>
    </div>
  );
}

function AgentLeaf({ agent, all }: { readonly agent: Agent; readonly all: readonly Agent[] }) {
  const isCurrent = match("/agent/:agent", path.value)?.agent === agent.id;
  const children = all.filter(({ parent }) => parent === agent.id);
  return (
    <li>
      <a
        class={classes("tree-agent", isCurrent && "current")}
        href={hrefOf(`/agent/${agent.id}`)}
        aria-current={isCurrent ? "page" : undefined}
      >
        <StateMark state={agent.state} isBare />
        <span class="tree-name">{agentName(agent)}</span>
        {agent.state === "waiting" && (
          <span class="tree-waits" aria-hidden="true">
            waits
          </span>
        )}
      </a>
      {children.length > 0 && (
        <ul>
          {children.map((child) => (
            <AgentLeaf key={child.id} agent={child} all={all} />
          ))}
        </ul>
      )}
    </li>
  );
}
