import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import fastify, { type FastifyReply, type FastifyRequest } from "fastify";
import { missingScopes } from "../auth/scope-table.ts";
import { SallyportError } from "../errors.ts";
import type { Log } from "../lib/log.ts";
import { type Admission, admissionOf } from "./admission.ts";
import { createChangeBudget } from "./app-budget.ts";
import { fromFramework, notFound, sendError } from "./app-errors.ts";
import { coerceQuery, readJsonBody } from "./app-input.ts";
import { announcesBody, type BodyTiming, bodyTiming, discardRest } from "./body.ts";
import { JsonBytes, JsonText } from "./body-bytes.ts";
import { isJsonObject } from "./body-json.ts";
import { createValidator, type InputValidator } from "./body-validate.ts";
import { withEtag } from "./etag.ts";
import { type HeldBytes, holderOf } from "./held-bytes.ts";
import { leaseIsOver } from "./native/actor.ts";
import type { Route, RouteAnswer } from "./route.ts";
import { apiHeaders, pageHeadersFor } from "./security-headers.ts";
import { refuseUpgrade, type UpgradeHandler } from "./sockets/accept.ts";
import { answerStatic, type StaticFiles } from "./static.ts";
import { trackWork } from "./work-in-flight.ts";

export interface AppOptions {
  readonly routes: readonly Route[];
  /** By path, e.g. `/api/ws`. */
  readonly sockets: ReadonlyMap<string, UpgradeHandler>;
  readonly staticFiles: StaticFiles;
  readonly log: Log;
  readonly now?: () => number;
  readonly timing?: BodyTiming;
  /** Bounds what half-read bodies hold. */
  readonly incoming: HeldBytes;
}

export interface App {
  /** Hands over a request that the gate admitted. */
  routing(request: IncomingMessage, response: ServerResponse): void;
  /** Never listens. The gate emits `upgrade` on it for an upgrade that it admitted. */
  readonly server: Server;
  close(): Promise<void>;
}

const flatJsonHeaders: readonly string[] = [
  ...Object.entries(apiHeaders).flat(),
  "content-type",
  "application/json; charset=utf-8",
];
const jsonHeaders = { ...apiHeaders, "content-type": "application/json; charset=utf-8" };

/**
 * The application behind the gate. Every request that arrives here was admitted; its route's scopes are judged once more
 * when the body is there, because a lease may end meanwhile. The framework answers nothing in a shape of its own.
 */
export async function createApp(options: AppOptions): Promise<App> {
  const { log, staticFiles } = options;
  const now = options.now ?? Date.now;
  const timing = options.timing ?? bodyTiming;

  const framework = fastify({
    logger: false,
    return503OnClosing: false,
    exposeHeadRoutes: false,
    schemaController: { compilersFactory: { buildValidator: noCompiler, buildSerializer: noCompiler } },
    frameworkErrors: (error, request, reply) => refuse(request, reply, fromFramework(error)),
  });

  const changes = await createChangeBudget(framework);

  function refuse(request: FastifyRequest, reply: FastifyReply, thrown: unknown): void {
    discardRest(request.raw, timing.timeoutMs);
    if (reply.raw.destroyed) return;
    sendError(reply, thrown, log);
  }
  function send(reply: FastifyReply, answer: RouteAnswer): void {
    const { status = 200, body, headers, afterSent } = answer;
    if (body instanceof JsonText && !headers && !afterSent) {
      sendKept(reply, status, body.text);
      return;
    }
    // `close` comes after the last byte was handed over, and also when the client leaves before.
    if (afterSent && reply.raw.destroyed) afterSent();
    else if (afterSent) reply.raw.once("close", afterSent);
    reply.code(status).headers(body === undefined ? apiHeaders : jsonHeaders);
    if (headers) reply.headers(headers);
    if (body === undefined) reply.send();
    else if (body instanceof JsonBytes) reply.send(body.bytes);
    else reply.send(body instanceof JsonText ? body.text : JSON.stringify(body));
  }

  // Bodies are read by the routes themselves: bounded in bytes, time and depth before anything is parsed.
  framework.removeAllContentTypeParsers();
  framework.addContentTypeParser("*", (_request, _payload, done) => done(null));
  framework.setErrorHandler((error, request, reply) =>
    refuse(request, reply, request.is404 ? notFound() : fromFramework(error)),
  );
  framework.setNotFoundHandler((request, reply) => {
    const path = request.raw.url?.split("?", 1)[0] ?? "";
    const isRead = request.method === "GET" || request.method === "HEAD";
    const file = isRead ? staticFiles.get(path) : undefined;
    if (!file) {
      refuse(request, reply, notFound());
      return;
    }
    const { status, headers, body } = answerStatic(file, request.raw);
    reply
      .code(status)
      .headers(pageHeadersFor(admissionOf(request.raw).isSecure ?? false))
      .headers(headers)
      .send(body ?? undefined);
  });

  for (const route of options.routes) {
    const readQuery = queryReader(route);
    const bodyValidator = route.body ? createValidator(route.body) : null;

    function finish(request: FastifyRequest, admission: Admission, query: unknown, body: unknown) {
      bodyValidator?.assert(body);
      assertStillAllowed(route, admission, body, now());
      const params = request.params as Readonly<Record<string, string>>;
      const answer = route.handle({ admission, params, query, body });
      return route.method === "GET" || !admission.lease ? answer : trackWork(admission.lease, answer);
    }

    function run(request: FastifyRequest, reply: FastifyReply, admission: Admission): void {
      const query = readQuery(request.query);
      if (!bodyValidator && announcesBody(request.raw)) discardRest(request.raw, timing.timeoutMs);
      const body = bodyValidator
        ? readJsonBody(request.raw, {
            maxBytes: route.maxBodyBytes,
            authenticated: admission.lease !== null,
            share: options.incoming.share(holderOf(admission.lease)),
            timing,
          })
        : undefined;
      const answer =
        body instanceof Promise
          ? body.then((parsed) => finish(request, admission, query, parsed))
          : finish(request, admission, query, body);
      const tagged = (settled: RouteAnswer): RouteAnswer =>
        route.etag ? withEtag(settled, request.raw) : settled;
      if (answer instanceof Promise)
        answer
          .then((settled) => send(reply, tagged(settled)))
          .catch((error: unknown) => refuse(request, reply, error));
      else send(reply, tagged(answer));
    }

    framework.route({
      method: route.method,
      url: route.path,
      handler(request, reply) {
        try {
          const admission = admissionOf(request.raw);
          // Reads stay without a promise: they are what there is most of.
          if (route.method === "GET" || !admission.lease) run(request, reply, admission);
          else
            changes
              .spend(request, now())
              .then(() => run(request, reply, admission))
              .catch((error: unknown) => refuse(request, reply, error));
        } catch (error) {
          refuse(request, reply, error);
        }
      },
    });
  }

  await framework.ready();
  framework.server.on("upgrade", (request: IncomingMessage, socket: Socket, head: Buffer) => {
    const upgrade = options.sockets.get(request.url?.split("?", 1)[0] ?? "");
    if (!upgrade) {
      refuseUpgrade(socket, { code: "not_found", message: "There is nothing here." });
      return;
    }
    try {
      upgrade(request, socket, head);
    } catch (error) {
      log.error({ err: error }, "an upgrade failed unexpectedly");
      socket.destroy();
    }
  });

  return {
    routing: (request, response) => framework.routing(request, response),
    server: framework.server,
    close: () => framework.close(),
  };
}

/**
 * Schemas are ours: routes give the framework none, so that it never compiles one. Without this it would load its compilers
 * at each start, a third of its time.
 */
function noCompiler(): never {
  throw new TypeError("a route gave the framework a schema");
}

/** What clients poll leaves around the framework's reply: its headers are always the same, so one flat list is enough. */
function sendKept(reply: FastifyReply, status: number, text: string): void {
  reply.hijack();
  reply.raw.writeHead(status, [...flatJsonHeaders, "content-length", String(Buffer.byteLength(text))]);
  reply.raw.end(text);
}

function queryReader(route: Route): (rawQuery: unknown) => unknown {
  const { query } = route;
  if (!query) return () => ({});
  const validator: InputValidator = createValidator(query);
  return (rawQuery) => {
    const coerced = coerceQuery(rawQuery, query);
    validator.assert(coerced);
    return coerced;
  };
}

function assertStillAllowed(route: Route, admission: Admission, body: unknown, nowMs: number): void {
  if (route.scope.needs === "public") return;
  const { lease } = admission;
  if (!lease || leaseIsOver(lease, nowMs))
    throw new SallyportError("unauthorized", "No valid token. Pair this device, or send its token.");
  const [missing] = missingScopes(route.scope, lease.scopes, isJsonObject(body) ? body : {});
  if (missing !== undefined)
    throw new SallyportError("scope_missing", `This needs the scope "${missing}", which this device lacks.`);
}
