import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { type WebSocket, WebSocketServer } from "ws";
import { createBroadcaster } from "../harness/broadcast.ts";
import { answerCalls } from "../harness/child.ts";

async function listen(): Promise<{ server: WebSocketServer; port: number }> {
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1", perMessageDeflate: false });
  await once(server, "listening");
  return { server, port: (server.address() as AddressInfo).port };
}

const clients = new Set<WebSocket>();
let event = Buffer.alloc(0);
const broadcaster = await createBroadcaster(() => {
  for (const client of clients) client.send(event, { binary: false });
});

const calls = {
  /** A server that sends events of `eventBytes` to all its clients. */
  async start({ eventBytes }: { readonly eventBytes: number }) {
    event = Buffer.alloc(eventBytes, "x");
    const { server, port } = await listen();
    server.on("connection", (client) => {
      clients.add(client);
      client.on("close", () => clients.delete(client));
    });
    return { port, controlPort: broadcaster.controlPort };
  },
  flood: ({ count }: { readonly count: number }) => broadcaster.flood(count),
  drip: ({ count, intervalMs }: { readonly count: number; readonly intervalMs: number }) =>
    broadcaster.drip(count, intervalMs),
  /** A server that answers each request for a chunk with the next piece of `text`, as JSON; the port. */
  async replies({ text, size }: { readonly text: string; readonly size: number }): Promise<number> {
    const { server, port } = await listen();
    server.on("connection", (client) =>
      client.on("message", (data) => {
        const request = JSON.parse(String(data)) as { job: string; offset: number; client_ref: string };
        const next = Math.min(size, request.offset + text.length);
        const reply = {
          type: "job_output",
          job: request.job,
          offset: request.offset,
          next_offset: next,
          size,
          output: text,
          done: next === size,
          incomplete: false,
          client_ref: request.client_ref,
        };
        client.send(JSON.stringify(reply));
      }),
    );
    return port;
  },
};
export type BareSocketCalls = typeof calls;

answerCalls(calls);
