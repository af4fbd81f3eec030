import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { JsonBytes } from "./body-bytes.ts";
import type { RouteAnswer } from "./route.ts";

const maxTags = 16;

/**
 * Gives a 200 answer an entity tag, and makes it a 304 without a body when `If-None-Match` names that tag (RFC 9110
 * §13.1.2, weak comparison). The work of finding the answer is done all the same; what is saved is the radio.
 */
export function withEtag(answer: RouteAnswer, request: IncomingMessage): RouteAnswer {
  if ((answer.status ?? 200) !== 200 || answer.body === undefined) return answer;
  const bytes =
    answer.body instanceof JsonBytes ? answer.body.bytes : Buffer.from(JSON.stringify(answer.body));
  const etag = `"${createHash("sha256").update(bytes).digest("base64url").slice(0, 22)}"`;
  const headers = { ...answer.headers, etag };
  if (matches(request.headers["if-none-match"], etag))
    return { ...answer, status: 304, headers, body: undefined };
  return { ...answer, headers, body: new JsonBytes(bytes) };
}

function matches(rawHeader: string | undefined, etag: string): boolean {
  if (rawHeader === undefined) return false;
  return rawHeader
    .split(",", maxTags)
    .map((tag) => tag.trim().replace(/^W\//, ""))
    .some((tag) => tag === "*" || tag === etag);
}
