import type { ChangeBody } from "../../protocol/changes.ts";
import { limits } from "../../protocol/limits.ts";
import type { Agent, Project, Tab } from "../../protocol/objects.ts";
import type { Projects, TabFolder } from "../projects/projects.ts";
import type { Runtime } from "../runtimes/runtime.ts";
import type { Announcer } from "../transcripts/announcer.ts";
import { createStreaming } from "../transcripts/streaming.ts";
import { createTranscript } from "../transcripts/transcript.ts";
import { cleanLabel } from "../visible-text.ts";
import {
  type AgentActivity,
  agentRow,
  dormant,
  type TabFacts,
  tabRow,
  workspaceRow,
} from "../workspaces/rows.ts";
import { type AgentDoc, withAgent } from "../workspaces/workspace-doc.ts";
import type { WorkspaceStore } from "../workspaces/workspace-store.ts";
import type { LiveAgent } from "./live-agent.ts";

/** The agents that were touched since the daemon started, and the rows that clients see. */
export interface Agents {
  get(id: string): LiveAgent;
  /** Null for one that was not touched yet. */
  peek(id: string): LiveAgent | null;
  list(): readonly LiveAgent[];
  forget(id: string): void;
  /** Forgets an agent that left its tab, once its turn has ended: until then nobody else writes its transcript. */
  retire(id: string): Promise<void>;
  forgetTab(id: string): void;
  activityOf(id: string): AgentActivity;
  /** What a tab's row shows beside its document. */
  factsOf(tab: TabFolder): TabFacts;
  isLoaded(tab: string): boolean;
  markLoaded(tab: string): void;
  tabRow(tab: string): Tab | null;
  agentRow(agent: string): Agent | null;
  /** Announces the agent's row if anything but its time has changed. */
  announceAgent(id: string): void;
  /** Announces the tab's row if anything has changed. */
  announceTab(id: string): void;
  announceWorkspace(id: string): void;
}

export interface AgentsOptions {
  readonly store: WorkspaceStore;
  readonly sessionsFolder: string;
  readonly announcer: Announcer;
  readonly now: () => number;
  readonly append: (change: ChangeBody) => void;
  readonly isTrusted: (cwd: string) => boolean;
  readonly projects: Projects;
  /** What the runtimes know of an agent or a tab. */
  readonly runtimes: ReadonlyMap<string, Runtime>;
  /** Turns with a request or question that waits for a person. */
  readonly isWaiting: (turn: string) => boolean;
}

/** Holds what lives in memory only; documents of tabs and agents stay in `store`, and rows are made of both. */
export function createAgents(options: AgentsOptions): Agents {
  const { store } = options;
  const agents = new Map<string, LiveAgent>();
  const loadedTabs = new Set<string>();
  const announcedTabs = new Map<string, string>();

  function create(id: string): LiveAgent {
    const streaming = createStreaming({ now: options.now });
    const transcript = createTranscript({
      sessionsFolder: options.sessionsFolder,
      agent: id,
      announcer: options.announcer,
      now: options.now,
      where() {
        const place = store.findAgent(id);
        return { workspace: place?.workspace.id ?? null, tab: place?.tab.id ?? null };
      },
      append: options.append,
      onEvent(body) {
        streaming.take(body);
        if (body.type === "user_message") nameAfter(id, body.text);
        if (body.type === "title") change(id, { title: cleanLabel(body.title, limits.labelChars) || null });
        if (body.type === "model_changed")
          change(id, { model: body.model?.slice(0, limits.modelChars) ?? null });
      },
    });
    return {
      id,
      transcript,
      streaming,
      live: false,
      current: null,
      next: null,
      closing: false,
      sessionRules: [],
      recovery: null,
      announcedRow: "",
    };
  }

  /** What nobody has named is called after its first prompt, as its saved session is. */
  function nameAfter(id: string, prompt: string): void {
    const agent = store.findAgent(id)?.agent;
    if (!agent || agent.label !== null || agent.title !== null) return;
    const label = cleanLabel(prompt.slice(0, 4 * limits.labelChars), limits.labelChars);
    if (label !== "") change(id, { label });
  }

  function change(
    id: string,
    fields: Pick<AgentDoc, "label"> | Pick<AgentDoc, "title"> | Pick<AgentDoc, "model">,
  ): void {
    const place = store.findAgent(id);
    if (!place) return;
    store.patchSoon(place.workspace.id, (doc) => withAgent(doc, id, (each) => ({ ...each, ...fields })));
    announceAgent(id);
  }

  function announceAgent(id: string): void {
    const agent = agents.get(id);
    const row = rowOf(id);
    const place = store.findAgent(id);
    if (!agent || !row || !place) return;
    const text = JSON.stringify({ ...row, updated: null });
    if (text === agent.announcedRow) return;
    agent.announcedRow = text;
    const updated = new Date(options.now()).toISOString();
    store.patchSoon(place.workspace.id, (doc) => withAgent(doc, id, (each) => ({ ...each, updated })));
    options.append({ type: "agent_updated", agent: { ...row, updated } });
  }

  function activityOf(id: string): AgentActivity {
    const agent = agents.get(id);
    if (!agent) return dormant;
    const turn = agent.current?.accepted ? agent.current : null;
    return {
      state: turn === null ? "idle" : options.isWaiting(turn.id) ? "waiting" : "running",
      live: agent.live,
      turn: turn?.id ?? null,
      queued: agent.next?.accepted ?? false,
    };
  }

  function rowOf(id: string): Agent | null {
    const place = store.findAgent(id);
    return place && agentRow(place.agent, place.tab.id, activityOf(id));
  }

  function tabRowOf(id: string): Tab | null {
    const place = store.findTab(id);
    if (!place) return null;
    return tabRow(place.tab, place.workspace.id, factsOf(place.tab));
  }

  async function retire(id: string): Promise<void> {
    const agent = agents.get(id);
    if (!agent) return;
    agent.closing = true;
    if (agent.current) {
      void agent.current.ended.then(() => retire(id));
      return;
    }
    agents.delete(id);
    for (const runtime of options.runtimes.values()) runtime.release?.(id);
    await agent.transcript.release();
  }

  function factsOf(tab: TabFolder): TabFacts {
    const loaded = loadedTabs.has(tab.id);
    return {
      trusted: options.isTrusted(tab.cwd),
      loaded,
      project: loaded ? withAgentCommands(options.projects.get(tab.id), tab.id) : null,
      note: noteOf(tab.id),
    };
  }

  /** What must be known of the runtimes of a tab and its agents. */
  function noteOf(tab: string): string | null {
    const doc = store.findTab(tab)?.tab;
    if (!doc) return null;
    const names = new Set([doc.runtime, ...doc.agents.map((agent) => agent.runtime)]);
    const notes = [...names].flatMap((name) => options.runtimes.get(name)?.note ?? []);
    return notes.length === 0 ? null : notes.join(" ");
  }

  /** Slash commands of the tab's active agent stand behind those of the project, which have precedence. */
  function withAgentCommands(project: Project | null, tab: string): Project | null {
    const doc = store.findTab(tab)?.tab;
    const agent = doc?.agents.find((each) => each.id === doc.active_agent);
    const offered = agent && options.runtimes.get(agent.runtime)?.commands?.(agent.id);
    if (!project || !agent || !offered || offered.length === 0) return project;
    const taken = new Set(project.commands.map(({ name }) => name));
    const added = offered
      .filter(({ name }) => !taken.has(name))
      .map(({ name, description, argumentHint }) => ({
        name,
        description,
        argument_hint: argumentHint,
        source: agent.runtime,
      }));
    return { ...project, commands: [...project.commands, ...added] };
  }

  return {
    factsOf,
    get(id) {
      const agent = agents.get(id) ?? create(id);
      agents.set(id, agent);
      return agent;
    },
    peek: (id) => agents.get(id) ?? null,
    list: () => [...agents.values()],
    forget(id) {
      agents.delete(id);
    },
    retire,
    activityOf,
    isLoaded: (tab) => loadedTabs.has(tab),
    markLoaded(tab) {
      loadedTabs.add(tab);
      const doc = store.findTab(tab)?.tab;
      // Mostly known by now; where it is not, it is told of when it is.
      if (doc && options.projects.get(tab) === null) void options.projects.load(doc);
    },
    tabRow: tabRowOf,
    agentRow: rowOf,
    announceAgent,
    announceTab(id) {
      const row = tabRowOf(id);
      const text = JSON.stringify(row);
      if (!row || announcedTabs.get(id) === text) return;
      announcedTabs.set(id, text);
      options.append({ type: "tab_updated", tab: row });
    },
    forgetTab(id) {
      options.projects.forget(id);
      loadedTabs.delete(id);
      announcedTabs.delete(id);
    },
    announceWorkspace(id) {
      const doc = store.get(id);
      if (doc) options.append({ type: "workspace_updated", workspace: workspaceRow(doc) });
    },
  };
}
