import { AnswerError, errorBodyOf, UnreachableError } from "./answer-error.ts";

export interface HttpRequest {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  readonly timeoutMs: number;
}
export interface HttpAnswer {
  readonly status: number;
  readonly text: string;
}

/** Sends one request. Rejects with `UnreachableError` when there is no answer. Injected: `fetch` in a browser, `node:http` in the CLI. */
export type SendHttp = (request: HttpRequest) => Promise<HttpAnswer>;

export interface RestOptions {
  /** Base address without a trailing slash; may have a path. */
  readonly base: string;
  readonly token: string | null;
  readonly send: SendHttp;
  /** For each request. Default 30 s. */
  readonly timeoutMs?: number;
}

export interface RestAnswer {
  readonly status: number;
  /** The parsed JSON body; null for an empty one. */
  readonly body: unknown;
}

export interface Rest {
  readonly base: string;
  /** Sends and parses. A status of 400 and above is thrown as `AnswerError`. */
  request(method: HttpRequest["method"], path: string, body?: unknown): Promise<RestAnswer>;
  /** `request` for when only the body matters. The caller names the shape that the wire protocol promises. */
  body<T>(method: HttpRequest["method"], path: string, body?: unknown): Promise<T>;
}

/** A client of the REST half of the native dialect. */
export function createRest(options: RestOptions): Rest {
  const { base, token, send, timeoutMs = 30_000 } = options;
  const request: Rest["request"] = async (method, path, body) => {
    const answer = await send({
      method,
      url: base + path,
      headers: {
        accept: "application/json",
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      body: body === undefined ? null : JSON.stringify(body),
      timeoutMs,
    });
    const parsed = parseBody(answer);
    if (answer.status >= 400) throw new AnswerError(answer.status, errorBodyOf(answer.status, parsed));
    return { status: answer.status, body: parsed };
  };
  return {
    base,
    request,
    async body<T>(method: HttpRequest["method"], path: string, body?: unknown): Promise<T> {
      return (await request(method, path, body)).body as T;
    },
  };
}

function parseBody(answer: HttpAnswer): unknown {
  if (answer.text === "") return null;
  try {
    return JSON.parse(answer.text);
  } catch {
    if (answer.status >= 400) return null;
    throw new UnreachableError("What answers there does not speak this protocol.");
  }
}
