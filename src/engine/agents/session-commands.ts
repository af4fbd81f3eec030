import { SallyportError } from "../../errors.ts";
import { isId } from "../../lib/ids.ts";
import type { ChangeBody } from "../../protocol/changes.ts";
import type { CommandOf } from "../../protocol/commands.ts";
import { limits } from "../../protocol/limits.ts";
import type { Agent } from "../../protocol/objects.ts";
import type { Actor } from "../actor.ts";
import { orRefuse } from "../disk-refusal.ts";
import { noAgent, noSession } from "../not-found.ts";
import type { ChooseRuntime, LearnModel } from "../runtimes/choose-runtime.ts";
import { readFacts, type SessionFacts } from "../sessions/session-facts.ts";
import type { EventSequence } from "../transcripts/event-sequence.ts";
import { transcriptPath } from "../transcripts/transcript.ts";
import { cleanLabel } from "../visible-text.ts";
import type { AgentDoc, TabDoc } from "../workspaces/workspace-doc.ts";
import type { Workspaces } from "../workspaces/workspaces.ts";
import type { Agents } from "./agents.ts";
import type { LiveAgent } from "./live-agent.ts";

export interface SessionCommands {
  /**
   * Opens a saved session: in the tab that holds it, else in a tab for its folder, which is made where there is none. It
   * becomes the active agent of the active tab, and is not live before it is prompted. Throws `not_found`, `invalid_field`
   * (a damaged session, a folder that is gone), `path_refused`, `conflict` at the bounds.
   */
  open(command: CommandOf<"agent_open">, actor: Actor): Promise<Agent>;
  /** Makes the agent its tab's active one. */
  activate(command: CommandOf<"agent_activate">, actor: Actor): Promise<Agent>;
  /** Changes the model from the next turn on. Throws `not_found`, `not_supported`, `invalid_field`. */
  setModel(command: CommandOf<"model">, actor: Actor): Promise<Agent>;
}

export interface SessionCommandsOptions {
  readonly workspaces: Workspaces;
  readonly agents: Agents;
  readonly sequence: EventSequence;
  readonly runtimeFor: ChooseRuntime;
  readonly learnModel: LearnModel;
  readonly recover: (agent: LiveAgent) => Promise<void>;
  /** Opens a tab on a folder, as `tab_create` does. Resolves with its id. */
  readonly createTab: (cwd: string, actor: Actor) => Promise<string>;
  /** The real path of a folder that is fit for a tab; `bounded` for those who stay below the browse root. */
  readonly resolveCwd: (rawCwd: string, bounded: boolean) => Promise<string>;
  /** Reads what there is to know of a tab's project before the tab counts as loaded. */
  readonly loadProject: (tab: TabDoc) => Promise<void>;
  readonly assertOpen: () => void;
  readonly sessionsFolder: string;
  readonly append: (change: ChangeBody) => void;
}

/** As agent commands: checked again at the commit point. Two who open the same session at once get the same tab. */
export function createSessionCommands(options: SessionCommandsOptions): SessionCommands {
  const { workspaces, agents } = options;
  const { store } = workspaces;
  /** Sessions that are being opened: whoever asks for the same one meanwhile gets that one. */
  const opening = new Map<string, Promise<void>>();

  function rowOf(agentId: string): Agent {
    const row = agents.agentRow(agentId);
    if (!row) throw noAgent();
    return row;
  }

  async function activate(agentId: string, tabToo: boolean, actor: Actor): Promise<Agent> {
    const place = store.findAgent(agentId);
    if (!place || agents.peek(agentId)?.closing) throw noAgent();
    const isActive =
      place.tab.active_agent === agentId && (!tabToo || place.workspace.active_tab === place.tab.id);
    const commit = (): void => {
      options.assertOpen();
      actor.assertLive();
    };
    if (!isActive) await workspaces.activateAgent(agentId, { tabToo }, commit);
    agents.announceTab(place.tab.id);
    if (tabToo && place.workspace.active_tab !== place.tab.id) agents.announceWorkspace(place.workspace.id);
    workspaces.touch(place.workspace.id);
    return rowOf(agentId);
  }

  /** Puts a session that is on no tab on one. */
  async function place(id: string, actor: Actor): Promise<void> {
    if (agents.peek(id)?.current)
      throw new SallyportError("conflict", "This agent was closed and its turn is still ending; try again.", {
        reason: "busy",
      });
    const facts = await readFacts(transcriptPath(options.sessionsFolder, id), id, null).catch(
      (error: NodeJS.ErrnoException) => {
        throw new SallyportError(
          "invalid_field",
          `This session cannot be read (${error.code ?? "damaged"}).`,
          { field: "agent", cause: error },
        );
      },
    );
    if (!facts) throw noSession("agent");
    if (facts.damaged || facts.cwd === null || facts.runtime === null)
      throw new SallyportError(
        "invalid_field",
        `The transcript of this session is damaged at its beginning, so it is not known where it belongs. It can still be read: GET /api/sessions/${id}`,
        { field: "agent" },
      );
    const tab = await tabFor(facts.cwd, actor);
    const doc = docOf(id, facts);
    await workspaces.addAgent(tab, doc, () => {
      options.assertOpen();
      actor.assertLive();
    });
    options.append({ type: "agent_updated", agent: rowOf(id) });
  }

  async function tabFor(rawCwd: string, actor: Actor): Promise<string> {
    const cwd = await options.resolveCwd(rawCwd, !actor.has("admin"));
    const last = workspaces.last();
    const docs = [last, ...store.list().filter((doc) => doc.id !== last.id)];
    const tab = docs.flatMap((doc) => doc.tabs).find((each) => each.cwd === cwd);
    return tab?.id ?? options.createTab(cwd, actor);
  }

  return {
    async open({ agent: id }, actor) {
      options.assertOpen();
      actor.assertLive();
      if (!isId(id)) throw noSession("agent");
      while (!store.findAgent(id)) {
        const other = opening.get(id);
        // The other one's failure is told to whoever asked for it; here it is tried again.
        if (other) await other.catch(() => undefined);
        else {
          const mine = place(id, actor).finally(() => opening.delete(id));
          opening.set(id, mine);
          await mine;
        }
      }
      const tab = store.findAgent(id)?.tab;
      if (tab) {
        await options.loadProject(tab);
        agents.markLoaded(tab.id);
      }
      return activate(id, true, actor);
    },
    async activate({ agent }, actor) {
      options.assertOpen();
      actor.assertLive();
      return activate(agent, false, actor);
    },
    async setModel({ agent: id, model }, actor) {
      options.assertOpen();
      actor.assertLive();
      const found = store.findAgent(id);
      if (!found || agents.peek(id)?.closing) throw noAgent();
      await options.learnModel(found.agent.runtime, model, found.tab);
      actor.assertLive();
      const { chosen } = options.runtimeFor(found.agent.runtime, model, found.tab);
      if (found.agent.model === chosen) return rowOf(id);
      const agent = agents.get(id);
      await options.recover(agent);
      await orRefuse(options.sequence.ensure());
      await workspaces.changeAgent(
        id,
        (doc) => ({ ...doc, model: chosen }),
        () => {
          options.assertOpen();
          actor.assertLive();
        },
      );
      await agent.transcript.record([{ type: "model_changed", model: chosen }], { owe: true });
      if (!agent.current) await agent.transcript.release();
      agents.announceAgent(id);
      return rowOf(id);
    },
  };
}

/** The document of a session that comes back to a tab. What it says of itself is untrusted: the file may be of others. */
function docOf(id: string, facts: SessionFacts): AgentDoc {
  const label = (raw: string | null): string | null =>
    raw === null ? null : cleanLabel(raw, limits.labelChars) || null;
  return {
    id,
    parent: facts.parent !== null && isId(facts.parent) ? facts.parent : null,
    label: label(facts.label) ?? label(facts.prompt),
    title: label(facts.title),
    runtime: (facts.runtime ?? "").slice(0, 64) || "shell",
    model: facts.model?.slice(0, limits.modelChars) ?? null,
    thinking: facts.thinking ?? null,
    updated: new Date(facts.updated_ms).toISOString(),
  };
}
