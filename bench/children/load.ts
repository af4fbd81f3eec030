import { once } from "node:events";
import { connect } from "node:net";
import { answerCalls } from "../harness/child.ts";

// Requests over kept connections, one at a time on each, with next to nothing of an HTTP client: the server has to be what
// is slowest, or two different ones look alike.

interface LoadOptions {
  readonly port: number;
  readonly path: string;
  /** One `Authorization: Bearer` after the other; null for none. */
  readonly tokens: readonly string[] | null;
  readonly connections: number;
  readonly durationMs: number;
}

interface LoadResult {
  readonly perSecond: number;
  readonly total: number;
  readonly byStatus: Readonly<Record<string, number>>;
}

const calls = {
  async run({ port, path, tokens, connections, durationMs }: LoadOptions): Promise<LoadResult> {
    const head = `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n`;
    const requests = (tokens ?? [null]).map((token) =>
      Buffer.from(`${head}${token === null ? "" : `Authorization: Bearer ${token}\r\n`}\r\n`),
    );
    const byStatus: Record<string, number> = {};
    let total = 0;
    let next = 0;
    const startedMs = performance.now();
    const untilMs = startedMs + durationMs;

    async function converse(): Promise<void> {
      const answers = createAnswerReader((status) => {
        byStatus[status] = (byStatus[status] ?? 0) + 1;
        total += 1;
        if (performance.now() < untilMs) send();
        else socket.end();
      });
      const socket = connect({
        port,
        host: "127.0.0.1",
        noDelay: true,
        onread: {
          buffer: Buffer.allocUnsafe(64 * 1024),
          callback: (bytes, buffer) => {
            answers((buffer as Buffer).toString("latin1", 0, bytes));
            return true;
          },
        },
      });
      function send(): void {
        const request = requests[next++ % requests.length];
        if (request) socket.write(request);
      }
      const closed = once(socket, "close");
      await once(socket, "connect");
      send();
      await closed;
      if (performance.now() < untilMs) throw new Error("the server closed a connection");
    }

    await Promise.all(Array.from({ length: connections }, converse));
    return { perSecond: total / ((performance.now() - startedMs) / 1_000), total, byStatus };
  },
};
export type LoadCalls = typeof calls;

/** Calls `answered` with the status of each answer; all of them must have a Content-Length. */
function createAnswerReader(answered: (status: string) => void): (text: string) => void {
  let unread = "";
  return (text) => {
    unread += text;
    for (;;) {
      const headEnd = unread.indexOf("\r\n\r\n");
      if (headEnd < 0) return;
      const lengthAt = unread.search(/\r\ncontent-length: /i);
      if (lengthAt < 0 || lengthAt > headEnd) throw new Error("an answer without Content-Length");
      const end = headEnd + 4 + Number.parseInt(unread.slice(lengthAt + 18, headEnd), 10);
      if (unread.length < end) return;
      const status = unread.slice(9, 12);
      unread = unread.slice(end);
      answered(status);
    }
  };
}

answerCalls(calls);
