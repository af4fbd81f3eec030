import { Type } from "typebox";
import type { Lease } from "../../auth/principal.ts";
import { routeScopes } from "../../auth/scope-table.ts";
import type { ChangeLog } from "../../engine/change-log.ts";
import type { Engine, EngineCounts } from "../../engine/engine.ts";
import { errorBody, SallyportError } from "../../errors.ts";
import type { Awake, Remote } from "../../protocol/objects.ts";
import { AckSchema, DaemonSchema } from "../../protocol/rest-answers.ts";
import { JsonText } from "../body-bytes.ts";
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
  let last: { readonly parts: DescribedParts; readonly text: JsonText } | null = null;
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

  /** Clients ask this often and it seldom changes, so the text is kept for as long as everything in them is the same. */
  function describe(lease: Lease | null): JsonText {
    const parts = partsOf(lease);
    if (last && isSame(last.parts, parts)) return last.text;
    const [counts, clients, idleMinutes, remote, awake] = parts;
    const text = new JsonText(
      JSON.stringify({
        version: facts.version,
        pid: facts.pid,
        started: facts.started,
        instance: changeLog.instance,
        clients,
        workspaces: counts.workspaces,
        loaded_tabs: counts.loaded_tabs,
        running_agents: counts.running_agents,
        running_jobs: counts.running_jobs,
        pending: counts.pending,
        idle_minutes: idleMinutes,
        remote,
        awake,
      }),
    );
    last = { parts, text };
    return text;
  }

  function partsOf(lease: Lease | null): DescribedParts {
    const remote = facts.remote();
    return [
      engine.counts(),
      facts.clients(),
      facts.idleMinutes,
      lease ? remoteFor(lease, remote) : remote,
      facts.awake(),
    ];
  }
}

type DescribedParts = readonly [
  counts: EngineCounts,
  clients: number,
  idleMinutes: number | null,
  remote: Remote,
  awake: Awake,
];

function isSame(one: DescribedParts, other: DescribedParts): boolean {
  const [a, b] = [one[0], other[0]];
  return (
    a.pending === b.pending &&
    a.running_jobs === b.running_jobs &&
    a.running_agents === b.running_agents &&
    a.loaded_tabs === b.loaded_tabs &&
    a.workspaces === b.workspaces &&
    one[1] === other[1] &&
    one[2] === other[2] &&
    one[3] === other[3] &&
    isSameAwake(one[4], other[4])
  );
}

function isSameAwake(a: Awake, b: Awake): boolean {
  return a.mode === b.mode && a.active === b.active && a.available === b.available && a.message === b.message;
}
