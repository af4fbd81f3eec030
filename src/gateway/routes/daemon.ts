import { Type } from "typebox";
import type { Lease } from "../../auth/principal.ts";
import { routeScopes } from "../../auth/scope-table.ts";
import type { ChangeLog } from "../../engine/change-log.ts";
import type { Engine } from "../../engine/engine.ts";
import { errorBody, SallyportError } from "../../errors.ts";
import { AckSchema, DaemonSchema } from "../../protocol/rest-answers.ts";
import { type DaemonFacts, remoteFor } from "../native/snapshot-view.ts";
import { type Route, type RouteAnswer, route } from "../route.ts";

export interface DaemonRouteOptions {
  readonly engine: Engine;
  readonly changeLog: Pick<ChangeLog, "instance">;
  readonly facts: DaemonFacts;
  /** Begins the end of the daemon; called once the answer has been sent. */
  readonly stop: (how: { readonly restart: boolean }) => void;
  /** Why a daemon that follows this one would not start, or null. */
  readonly restartProblem?: () => Promise<string | null>;
}

/** `GET /api/daemon` and `POST /api/daemon/stop`. */
export function daemonRoutes(options: DaemonRouteOptions): readonly Route[] {
  const { engine, changeLog, facts, stop } = options;
  return [
    route({
      method: "GET",
      path: "/api/daemon",
      scope: routeScopes["GET /api/daemon"],
      summary: "What the daemon is and does",
      response: DaemonSchema,
      handle: ({ admission }) => ({ body: describe(admission.lease) }),
    }),
    route({
      method: "POST",
      path: "/api/daemon/stop",
      scope: routeScopes["POST /api/daemon/stop"],
      summary: "Stops the daemon; with restart, exposure is kept for the one that follows",
      response: AckSchema,
      responseStatus: 202,
      body: Type.Object({
        force: Type.Optional(Type.Boolean()),
        restart: Type.Optional(Type.Boolean()),
      }),
      handle: async ({ body }): Promise<RouteAnswer> => {
        if (body.restart && !body.force) await assertCanFollow();
        const { running_agents: agents, running_jobs: jobs } = engine.counts();
        if (!body.force && agents + jobs > 0) {
          const message = `${agents} agents and ${jobs} jobs are running. Stop them first, or send "force": true.`;
          const error = new SallyportError("conflict", message, { reason: "running" });
          return { status: error.status, body: { ...errorBody(error), agents, jobs } };
        }
        return {
          status: 202,
          body: { type: "ack" },
          afterSent: () => stop({ restart: body.restart === true }),
        };
      },
    }),
  ];

  /** Who restarts a daemon from far away must not be left without one. */
  async function assertCanFollow(): Promise<void> {
    const problem = await options.restartProblem?.();
    if (problem)
      throw new SallyportError(
        "not_supported",
        `No daemon could follow this one, so it stays: ${problem} Mend that, or send "force": true.`,
      );
  }

  function describe(lease: Lease | null) {
    const counts = engine.counts();
    const remote = facts.remote();
    return {
      version: facts.version,
      pid: facts.pid,
      started: facts.started,
      instance: changeLog.instance,
      clients: facts.clients(),
      workspaces: counts.workspaces,
      loaded_tabs: counts.loaded_tabs,
      running_agents: counts.running_agents,
      running_jobs: counts.running_jobs,
      pending: counts.pending,
      idle_minutes: facts.idleMinutes,
      remote: lease ? remoteFor(lease, remote) : remote,
      awake: facts.awake(),
    };
  }
}
