import type { Engine } from "../../engine/engine.ts";
import { SallyportError } from "../../errors.ts";
import type { Awake, AwakeMode } from "../../protocol/objects.ts";
import type { CommandHandlers } from "./command-table.ts";
import type { OpenWorkspaces } from "./open-workspaces.ts";
import { createPlaceCommands } from "./place-commands.ts";
import { ownSnapshot, type SnapshotViews } from "./snapshot-view.ts";

export interface CommandSources {
  readonly engine: Engine;
  readonly views: SnapshotViews;
  readonly openWorkspaces: OpenWorkspaces;
  readonly setAwake: (mode: AwakeMode) => Promise<Awake>;
  readonly now: () => number;
}

/** What each command does and answers (docs/protocol.md, "Commands"): `ack` names what was made or touched. */
export function createCommandHandlers(sources: CommandSources): CommandHandlers {
  const { engine, views, openWorkspaces, setAwake, now } = sources;
  return {
    async prompt(command, { actor }) {
      return { type: "ack", ...(await engine.prompt(command, actor)) };
    },
    receipt: (command, { actor }) => ({ type: "receipt", ...engine.receipt(command.request_id, actor) }),
    async cancel(command, { actor }) {
      await engine.cancel(command.agent, actor);
      return { type: "ack", agent: command.agent };
    },
    async approve(command, { actor }) {
      await engine.approve(command, actor);
      return { type: "ack", request_id: command.request_id, decision: command.decision };
    },
    async answer(command, { actor }) {
      await engine.answer(command, actor);
      return { type: "ack", request_id: command.request_id, cancelled: command.cancelled ?? false };
    },
    async mode(command, { actor }) {
      const tab = await engine.setMode(command, actor);
      return { type: "ack", workspace: tab.workspace, tab: tab.id, mode: tab.mode };
    },
    async agent_start(command, { actor }) {
      const agent = await engine.startAgent(command, actor);
      return { type: "ack", tab: agent.tab, agent: agent.id };
    },
    async agent_open(command, { actor }) {
      const agent = await engine.openAgent(command, actor);
      return { type: "ack", tab: agent.tab, agent: agent.id };
    },
    async agent_activate(command, { actor }) {
      const agent = await engine.activateAgent(command, actor);
      return { type: "ack", tab: agent.tab, agent: agent.id };
    },
    async compact(command, { actor }) {
      return { type: "ack", ...(await engine.compact(command, actor)) };
    },
    async clear(command, { actor }) {
      const agent = await engine.sessions.clear(command, actor);
      return { type: "ack", tab: agent.tab, agent: agent.id };
    },
    async thinking(command, { actor }) {
      const agent = await engine.sessions.setThinking(command, actor);
      return { type: "ack", tab: agent.tab, agent: agent.id, thinking: agent.thinking ?? null };
    },
    async session_update(command, { actor }) {
      return { type: "ack", session: await engine.sessions.update(command, actor) };
    },
    async model(command, { actor }) {
      const agent = await engine.setModel(command, actor);
      return { type: "ack", tab: agent.tab, agent: agent.id, model: agent.model };
    },
    async agent_close(command, { actor }) {
      await engine.closeAgent(command.agent, actor);
      return { type: "ack", agent: command.agent };
    },
    ...createPlaceCommands(engine.places, openWorkspaces),
    async tab_close(command, { actor }) {
      await engine.closeTab(command.tab, actor);
      return { type: "ack", tab: command.tab };
    },
    async job_start(command, { actor }) {
      const started = await engine.startJob(command, actor);
      return "job" in started
        ? { type: "job_started", job: started.job }
        : { type: "ack", request_id: started.request_id };
    },
    job_list: () => ({ type: "jobs", jobs: engine.listJobs() }),
    job_output: (command) =>
      engine.readJob({
        job: command.job,
        ...(command.offset === undefined ? {} : { offset: command.offset }),
        ...(command.limit === undefined ? {} : { limit: command.limit }),
        ...(command.tail === undefined ? {} : { tail: command.tail }),
      }),
    job_follow(command, { connection }) {
      if (!connection)
        throw new SallyportError(
          "not_supported",
          "A job is followed on a WebSocket (/api/ws); over REST read its output by offset.",
        );
      connection.follows.set(command.job, command.on);
      return { type: "ack", job: command.job, on: command.on };
    },
    async job_kill(command, { actor }) {
      await engine.killJob(command.job, actor);
      return { type: "ack", job: command.job };
    },
    snapshot(command, { lease, connection }) {
      const missed = views.missed(lease, command.since ?? null, command.instance ?? null);
      if (missed) return missed;
      const full = ownSnapshot(views, lease, {
        workspace: connection?.workspace.id ?? null,
        rawVersion: null,
      });
      return { ...full };
    },
    async keep_awake(command, { actor }) {
      actor.assertLive();
      return { type: "awake", ...(await setAwake(command.mode)) };
    },
    // There is nothing on any system yet that the daemon would have to ask the user for.
    control_permissions: () => ({ type: "control", available: false, permissions: [] }),
    ping: () => ({ type: "pong", at: new Date(now()).toISOString() }),
  };
}
