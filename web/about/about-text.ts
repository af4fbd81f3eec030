import type { Static } from "typebox";
import type { DaemonSchema } from "../../src/protocol/rest-answers.ts";
import type { UpdateSchema } from "../../src/protocol/rest-objects.ts";

export type DaemonAnswer = Static<typeof DaemonSchema>;
export type UpdateAnswer = Static<typeof UpdateSchema>;

/** Whether there is a newer version; a daemon that asks nobody on the network says that. */
export function updateText({ current, latest }: UpdateAnswer): string {
  if (latest === null) return "(the daemon does not look for newer ones)";
  return latest === current ? "(the newest)" : `(${latest} is out)`;
}

/** What a report of a fault needs, and nothing that belongs to the user: no names, addresses or folders. */
export function aboutText(daemon: DaemonAnswer, browser: string): string {
  return [
    `Sallyport ${daemon.version}`,
    `started ${daemon.started}`,
    `access ${daemon.remote.access}, tunnel ${daemon.remote.tunnel.provider ?? "none"} ${daemon.remote.tunnel.state}`,
    `${daemon.running_agents} agents, ${daemon.running_jobs} jobs, ${daemon.clients} clients`,
    browser,
  ].join("\n");
}
