import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { WebSocket } from "ws";
import { startDaemon } from "../harness/daemon.ts";
import { number } from "../harness/pairs.ts";
import { call } from "../harness/rest.ts";
import { median, quantile, type Row } from "../harness/row.ts";

const agentPath = fileURLToPath(new URL("children/chunk-agent.mjs", import.meta.url));
const chunks = 300;
const intervalMs = 10;
const pairs = 5;
const together = 20;
const togetherIntervalMs = 40;

const nowMicros = (): number => Number(process.hrtime.bigint() / 1_000n);

/** Milliseconds from the writing of each chunk in a text until now. */
function delaysIn(text: string): number[] {
  const now = nowMicros();
  return text
    .split(" ")
    .filter((word) => word !== "")
    .map((word) => (now - Number(word)) / 1_000);
}

/** The same chunks read from the agent's pipe by this process, with nothing between. */
async function direct(): Promise<number[]> {
  const child = spawn(process.execPath, [agentPath], { stdio: ["pipe", "pipe", "inherit"] });
  const delays: number[] = [];
  const lines = createInterface({ input: child.stdout });
  const ended = new Promise<void>((resolve) => {
    lines.on("line", (line) => {
      const message = JSON.parse(line) as {
        readonly result?: { readonly stopReason?: string };
        readonly params?: { readonly update: { readonly content: { readonly text: string } } };
      };
      if (message.params) delays.push(...delaysIn(message.params.update.content.text));
      if (message.result?.stopReason) resolve();
    });
  });
  child.stdin.write(
    `${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "session/prompt", params: { sessionId: "x", prompt: [{ text: `${chunks} ${intervalMs}` }] } })}\n`,
  );
  await ended;
  child.kill();
  return delays;
}

interface Event {
  readonly type: string;
  readonly event?: {
    readonly type: string;
    readonly agent: string;
    readonly text?: string;
    readonly turn?: string;
  };
}

export const agentChunk: Row = {
  figure: "p99 from an ACP agent's chunk to a client's socket, less the same over a bare pipe",
  against: "5 ms",
  bound: { atMost: 5 },
  unit: " ms",
  async measure() {
    const daemon = await startDaemon(
      `[agents.chunks]\ncommand = ${JSON.stringify(process.execPath)}\nargs = [${JSON.stringify(agentPath)}]\n`,
    );
    const socket = new WebSocket(`${daemon.url.replace("http", "ws")}/api/ws`, {
      perMessageDeflate: false,
      headers: { authorization: `Bearer ${daemon.masterToken}` },
    });
    const delays = new Map<string, number[]>();
    const ends = new Map<string, () => void>();
    socket.on("message", (data) => {
      const { event } = JSON.parse(String(data)) as Event;
      if (event?.type === "text_delta") delays.get(event.agent)?.push(...delaysIn(event.text ?? ""));
      if (event?.type === "turn_finished") ends.get(event.agent)?.();
    });
    await once(socket, "open");
    const command = <T>(body: Readonly<Record<string, unknown>>): Promise<T> =>
      call<T>("POST", `${daemon.url}/api/command`, daemon.masterToken, body);
    const start = async (): Promise<string> =>
      (await command<{ agent: string }>({ type: "agent_start", runtime: "chunks" })).agent;

    async function run(agent: string, text: string): Promise<number[]> {
      const own: number[] = [];
      delays.set(agent, own);
      const ended = new Promise<void>((resolve) => ends.set(agent, resolve));
      await command({ type: "prompt", agent, text });
      await ended;
      return own;
    }

    try {
      const agent = await start();
      await run(agent, "20 5");
      const added: number[] = [];
      const ours: number[] = [];
      const bare: number[] = [];
      const typical: number[] = [];
      for (let each = 0; each < pairs; each++) {
        const through = await run(agent, `${chunks} ${intervalMs}`);
        const without = quantile(await direct(), 0.99);
        ours.push(quantile(through, 0.99));
        typical.push(median(through));
        bare.push(without);
        added.push(quantile(through, 0.99) - without);
      }
      const many = await Promise.all(Array.from({ length: together }, start));
      for (const each of many) await run(each, "1 1");
      const all = await Promise.all(many.map((each) => run(each, `${chunks} ${togetherIntervalMs}`)));
      const heard = all.map((each) => each.length);
      return {
        samples: added,
        detail: `${number(median(ours), 2)} ms through the daemon (typically ${number(median(typical), 2)}), ${number(median(bare), 2)} ms over the pipe`,
        more: [
          {
            figure: `the same with ${together} agents streaming at once`,
            against: "every chunk arrives",
            bound: null,
            unit: " ms",
            samples: all.map((each) => quantile(each, 0.99)),
            detail: `${Math.min(...heard)} of ${chunks} chunks of each heard at least`,
          },
        ],
      };
    } finally {
      socket.terminate();
      await daemon.stop();
    }
  },
};
