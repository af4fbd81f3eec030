import { createInterface } from "node:readline";

// An agent of the Agent Client Protocol that streams: a prompt `COUNT INTERVAL` is answered with so many chunks, one every
// so many milliseconds, each holding the moment of its writing (CLOCK_MONOTONIC in microseconds). No library, so that what is
// measured is the other side.

interface Request {
  readonly id?: number;
  readonly method?: string;
  readonly params?: { readonly sessionId?: string; readonly prompt?: readonly { readonly text?: string }[] };
}

function write(message: Readonly<Record<string, unknown>>): void {
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
}

async function stream(sessionId: string, count: number, intervalMs: number): Promise<void> {
  for (let sent = 0; sent < count; sent++) {
    const micros = process.hrtime.bigint() / 1_000n;
    const content = { type: "text", text: `${micros} ` };
    write({
      method: "session/update",
      params: { sessionId, update: { sessionUpdate: "agent_message_chunk", content } },
    });
    await new Promise((resolve) => setTimeout(resolve, intervalMs));
  }
}

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line) as Request;
  if (method === "initialize") write({ id, result: { protocolVersion: 1, agentCapabilities: {} } });
  if (method === "session/new") write({ id, result: { sessionId: "bench" } });
  if (method !== "session/prompt") return;
  const [count = 0, intervalMs = 0] = (params?.prompt?.at(-1)?.text ?? "").split(" ").map(Number);
  void stream(params?.sessionId ?? "", count, intervalMs).then(() => {
    write({ id, result: { stopReason: "end_turn" } });
  });
});
