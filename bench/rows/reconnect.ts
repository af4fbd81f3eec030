import { once } from "node:events";
import { dirname } from "node:path";
import { WebSocket } from "ws";
import { type Daemon, startDaemon } from "../harness/daemon.ts";
import { number } from "../harness/pairs.ts";
import { residentBytes } from "../harness/process-stats.ts";
import { call } from "../harness/rest.ts";
import { median, type Row } from "../harness/row.ts";

const agents = 1_000;
const tabs = 10;
const missed = 100;
const clients = 1_000;
const warmUpClients = 100;
const runs = 5;
const settleMs = 1_500;

interface Snapshot {
  readonly rev: number;
  readonly instance: string;
  readonly workspace: { readonly tabs: readonly { readonly id: string }[] };
}

export const reconnect: Row = {
  figure: `bytes of a reconnect with \`since\` after ${missed} missed changes, ${agents} agents open`,
  against: "a whole snapshot",
  bound: { atMost: 64 },
  unit: " KB",
  async measure() {
    const daemon = await startDaemon();
    try {
      const before = await settledKb(daemon);
      await openAgents(daemon);
      const perAgent = ((await settledKb(daemon)) - before) / agents;
      const [samples, whole]: [number[], number[]] = [[], []];
      for (let run = 0; run < runs; run++) {
        const { rev, instance, workspace } = await snapshot(daemon);
        const [tab] = workspace.tabs;
        for (let change = 0; change < missed; change++)
          await command(daemon, { type: "tab_rename", tab: tab?.id, name: `name ${run} ${change}` });
        samples.push((await bytesOfFirstMessage(daemon, `?since=${rev}&instance=${instance}`)) / 1_000);
        whole.push((await bytesOfFirstMessage(daemon, "")) / 1_000);
      }
      const perClient = await kbOfClient();
      const shown = { bound: null, unit: " KB" } as const;
      return {
        samples,
        detail: `${number(median(whole))} KB for a whole snapshot`,
        more: [
          {
            ...shown,
            figure: "memory of an idle agent",
            against: "before it was made",
            samples: [perAgent],
            detail: `growth of the daemon with ${agents} agents that were started and not prompted`,
          },
          {
            ...shown,
            figure: "memory of an idle client",
            against: "before it connected",
            samples: [perClient],
            detail: `growth of the daemon with ${clients} sockets that have their snapshot`,
          },
        ],
      };
    } finally {
      await daemon.stop();
    }
  },
};

/** Over REST: the socket takes a hundred commands a second. */
const command = ({ url, masterToken }: Daemon, body: object) =>
  call<{ readonly tab: string }>("POST", `${url}/api/command`, masterToken, body);

async function openAgents(daemon: Daemon): Promise<void> {
  const ids: string[] = [];
  for (let tab = 0; tab < tabs; tab++) {
    const made = await command(daemon, { type: "tab_create", cwd: dirname(daemon.home), name: `tab ${tab}` });
    ids.push(made.tab);
  }
  for (let agent = 0; agent < agents; agent++)
    await command(daemon, { type: "agent_start", tab: ids[agent % tabs], label: `agent ${agent}` });
}

const snapshot = ({ url, masterToken }: Daemon) => call<Snapshot>("GET", `${url}/api/snapshot`, masterToken);

function connect({ url, masterToken }: Daemon, query: string): WebSocket {
  return new WebSocket(`${url.replace("http", "ws")}/api/ws${query}`, {
    perMessageDeflate: false,
    headers: { authorization: `Bearer ${masterToken}` },
  });
}

async function bytesOfFirstMessage(daemon: Daemon, query: string): Promise<number> {
  const socket = connect(daemon, query);
  const [data] = await once(socket, "message");
  socket.terminate();
  return (data as Buffer).length;
}

/** A client that took its snapshot and waits. */
async function idleClient(daemon: Daemon): Promise<WebSocket> {
  const socket = connect(daemon, "");
  await once(socket, "message");
  return socket;
}

/** In a daemon of its own: in one that was busy before, clients take the memory that it kept. */
async function kbOfClient(): Promise<number> {
  const daemon = await startDaemon();
  try {
    for (let client = 0; client < warmUpClients; client++) (await idleClient(daemon)).terminate();
    const before = await settledKb(daemon);
    const sockets: WebSocket[] = [];
    // One by one: a crowd's snapshots would be counted as the clients' own.
    for (let client = 0; client < clients; client++) sockets.push(await idleClient(daemon));
    const perClient = ((await settledKb(daemon)) - before) / clients;
    for (const socket of sockets) socket.terminate();
    return perClient;
  } finally {
    await daemon.stop();
  }
}

/** Resident kilobytes once the last answers and what they left behind are out of the way. */
async function settledKb({ pid }: Daemon): Promise<number> {
  await new Promise((resolve) => setTimeout(resolve, settleMs));
  return residentBytes(pid) / 1_000;
}
