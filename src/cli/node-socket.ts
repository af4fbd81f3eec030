import { Agent as HttpAgent, type IncomingMessage } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import { type RawData, WebSocket } from "ws";
import { AnswerError, errorBodyOf, UnreachableError } from "../client/answer-error.ts";
import type { OpenSocket, OpenSocketAt } from "../client/connection.ts";

const maxMessageBytes = 64 * 1024 * 1024;
const maxRefusalBytes = 64 * 1024;
const openTimeoutMs = 10_000;

/** Opens the native socket with `ws`, the token in a header. `base` is `http://…` or `https://…` without a trailing slash. */
export function nodeSocketOpener(base: string, token: string): OpenSocketAt {
  return (path, handlers) =>
    new Promise<OpenSocket>((resolve, reject) => {
      const socket = new WebSocket(base.replace(/^http/, "ws") + path, {
        headers: { authorization: `Bearer ${token}` },
        agent: base.startsWith("https:")
          ? new HttpsAgent({ keepAlive: false })
          : new HttpAgent({ keepAlive: false }),
        followRedirects: false,
        handshakeTimeout: openTimeoutMs,
        maxPayload: maxMessageBytes,
        perMessageDeflate: false,
      });
      socket.on("open", () =>
        resolve({
          send: (text) => socket.send(text),
          close: (code) => socket.close(code),
        }),
      );
      socket.on("message", (data: RawData, isBinary: boolean) => {
        if (!isBinary) handlers.message(data.toString());
      });
      socket.on("close", (code, reason) => handlers.close(code, reason.toString("utf8")));
      socket.on("error", (error) => reject(new UnreachableError(error.message)));
      socket.on("unexpected-response", (_request, answer) => {
        readRefusal(answer).then((error) => {
          reject(error);
          socket.terminate();
        }, reject);
      });
    });
}

async function readRefusal(answer: IncomingMessage): Promise<AnswerError> {
  const status = answer.statusCode ?? 0;
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    bytes += chunk.byteLength;
    if (bytes > maxRefusalBytes) break;
    chunks.push(chunk);
  }
  let body: unknown = null;
  try {
    body = JSON.parse(Buffer.concat(chunks).toString("utf8"));
  } catch {
    body = null; // `errorBodyOf` names the status then.
  }
  return new AnswerError(status, errorBodyOf(status, body));
}
