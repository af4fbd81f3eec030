import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { readAsk } from "./read-ask.ts";
import type { Ask, Dialect, Reply } from "./reply.ts";
import { anthropic } from "./speak-anthropic.ts";
import { gemini } from "./speak-gemini.ts";
import { openAiChat } from "./speak-openai-chat.ts";
import { openAiResponses } from "./speak-openai-responses.ts";
import type { Voice } from "./speech.ts";

export interface ModelServerOptions {
  /** What the model says to a request. */
  readonly answer: (ask: Ask) => Reply;
  /** Only this key is let in; without one every key is. */
  readonly key?: string;
}

/** A request as it was seen, for a test to look at. */
export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly key: string | null;
  /** Null for what asks for no answer: lists of models, counts of tokens. */
  readonly ask: Ask | null;
}

export interface ModelServer {
  /** Without a slash at its end: `http://127.0.0.1:4711`. */
  readonly url: string;
  readonly requests: readonly SeenRequest[];
  /** The requests for an answer, each with all that was said before. */
  asks(): readonly Ask[];
  /** The first request for an answer, from the beginning, that fits; also one that comes later. */
  waitForAsk(fits: (ask: Ask) => boolean): Promise<Ask>;
  /** From now on the model says this. */
  setAnswer(answer: (ask: Ask) => Reply): void;
  close(): Promise<void>;
}

const maxBodyBytes = 32 * 1024 * 1024;
const voices: Readonly<Record<Dialect, Voice>> = {
  "openai-chat": openAiChat,
  "openai-responses": openAiResponses,
  anthropic,
  gemini,
};

/** A model on loopback that speaks as OpenAI, Anthropic and Google do, streaming or not, and says what a test wants. */
export async function startModelServer(options: ModelServerOptions): Promise<ModelServer> {
  const requests: SeenRequest[] = [];
  const listeners = new Set<() => void>();
  let answer = options.answer;
  let answers = 0;

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", "http://localhost");
    const key = keyOf(request, url);
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of request) {
      bytes += chunk.length;
      if (bytes > maxBodyBytes) throw new Error("a body that is too large");
      chunks.push(chunk);
    }
    const body = parsed(Buffer.concat(chunks).toString("utf8"));
    const route = routeOf(url.pathname);
    const ask = route === null || route.counts ? null : readAsk(route.dialect, body, route);
    requests.push({ method: request.method ?? "", path: url.pathname, headers: request.headers, key, ask });
    for (const listener of listeners) listener();

    const voice = voices[route?.dialect ?? "openai-chat"];
    if (options.key !== undefined && key !== options.key) {
      sendJson(response, 401, voice.error(401, `Incorrect API key provided: ${key ?? "none"}.`));
      return;
    }
    if (route?.counts) return sendJson(response, 200, { input_tokens: 1_200, totalTokens: 1_200 });
    if (ask === null || route === null) {
      if (!/\/models(\/[^/]*)?$/.test(url.pathname))
        return sendJson(response, 404, voice.error(404, "No such path."));
      return sendJson(response, 200, {
        object: "list",
        data: [{ id: "test-model", object: "model" }],
        models: [],
      });
    }
    await speak(ask, answer(ask), voice, response);
  }

  async function speak(ask: Ask, reply: Reply, voice: Voice, response: ServerResponse): Promise<void> {
    const about = { id: String(++answers), model: ask.model };
    const gone = new AbortController();
    response.once("close", () => gone.abort());
    const wait = async (ms: number): Promise<void> => {
      if (ms > 0) await pause(ms, undefined, { signal: gone.signal });
    };
    await wait(reply.delayMs ?? 0);
    if (reply.status !== undefined) {
      if (reply.status === 429) response.setHeader("retry-after", "1");
      sendJson(response, reply.status, voice.error(reply.status, `The model refuses with ${reply.status}.`));
      return;
    }
    if (!ask.streams) {
      if (reply.hangs) await once(response, "close");
      else sendJson(response, 200, voice.whole(reply, about));
      return;
    }
    response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
    const pieces = voice.stream(reply, about);
    const half = reply.hangs || reply.breaks ? Math.ceil(pieces.length / 2) : pieces.length;
    for (const { event, data } of pieces.slice(0, half)) {
      response.write(`${event === undefined ? "" : `event: ${event}\n`}data: ${JSON.stringify(data)}\n\n`);
      await wait(reply.pieceMs ?? 0);
    }
    if (reply.hangs) await once(response, "close");
    if (reply.breaks) response.destroy();
    else response.end(voice.last === undefined ? undefined : `data: ${voice.last}\n\n`);
  }

  const server = createServer((request, response) => {
    handle(request, response).catch(() => response.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const asks = (): readonly Ask[] => requests.flatMap(({ ask }) => (ask === null ? [] : [ask]));

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    asks,
    waitForAsk: (fits) =>
      new Promise((resolve) => {
        const look = (): void => {
          const found = asks().find(fits);
          if (!found) return;
          listeners.delete(look);
          resolve(found);
        };
        listeners.add(look);
        look();
      }),
    setAnswer(next) {
      answer = next;
    },
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

interface AskRoute {
  readonly dialect: Dialect;
  /** Only counts tokens. */
  readonly counts: boolean;
  readonly model: string | null;
  /** Null: the body says so. */
  readonly streams: boolean | null;
}

function routeOf(path: string): AskRoute | null {
  const plain = { counts: false, model: null, streams: null };
  if (path.endsWith("/chat/completions")) return { ...plain, dialect: "openai-chat" };
  if (path.endsWith("/responses")) return { ...plain, dialect: "openai-responses" };
  if (path.endsWith("/messages")) return { ...plain, dialect: "anthropic" };
  if (path.endsWith("/messages/count_tokens")) return { ...plain, dialect: "anthropic", counts: true };
  const found = /\/models\/([^/:]+):(generateContent|streamGenerateContent|countTokens)$/.exec(path);
  if (!found) return null;
  return {
    dialect: "gemini",
    counts: found[2] === "countTokens",
    model: decodeURIComponent(found[1] ?? ""),
    streams: found[2] === "streamGenerateContent",
  };
}

function keyOf(request: IncomingMessage, url: URL): string | null {
  const { authorization } = request.headers;
  const header = request.headers["x-api-key"] ?? request.headers["x-goog-api-key"];
  if (typeof header === "string") return header;
  return authorization?.replace(/^bearer /i, "") ?? url.searchParams.get("key");
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}

function parsed(text: string): any {
  try {
    return JSON.parse(text);
  } catch {
    // A test that sent no JSON meant to; then there is nothing to read.
    return {};
  }
}
