import type { IncomingMessage } from "node:http";
import type { TSchema } from "typebox";
import { SallyportError } from "../errors.ts";
import { announcesBody, assertJsonType, type BodyTiming, readBody } from "./body.ts";
import { isJsonObject, parseUntrustedJson } from "./body-json.ts";
import type { HeldShare } from "./held-bytes.ts";

const integerText = /^-?\d{1,15}$/;

/**
 * Turns the strings of a query into what the schema's properties name: integers and booleans. A value that is no such
 * thing stays a string, for the validator to refuse. Throws `bad_request` for a repeated parameter.
 */
export function coerceQuery(rawQuery: unknown, schema: TSchema): Record<string, unknown> {
  const coerced: Record<string, unknown> = {};
  if (!isJsonObject(rawQuery)) return coerced;
  const properties = "properties" in schema && isJsonObject(schema.properties) ? schema.properties : {};
  for (const name of Object.keys(properties)) {
    const raw = rawQuery[name];
    if (raw === undefined) continue;
    if (Array.isArray(raw))
      throw new SallyportError("bad_request", `The parameter "${name}" is given more than once.`, {
        field: name,
      });
    const property = properties[name];
    coerced[name] = coerceValue(String(raw), isJsonObject(property) ? property.type : undefined);
  }
  return coerced;
}

function coerceValue(raw: string, type: unknown): unknown {
  if ((type === "integer" || type === "number") && integerText.test(raw)) return Number(raw);
  if (type === "boolean" && (raw === "true" || raw === "false")) return raw === "true";
  return raw;
}

export interface JsonBodyOptions {
  readonly maxBytes: number;
  readonly authenticated: boolean;
  readonly share: HeldShare;
  readonly timing: BodyTiming;
}

/** Reads and parses a request's JSON body; none at all reads as `{}`, and the schema says whether that will do. */
export function readJsonBody(request: IncomingMessage, options: JsonBodyOptions): unknown {
  if (!announcesBody(request)) return {};
  assertJsonType(request);
  return readBody(request, options).then((bytes) => (bytes.length === 0 ? {} : parseUntrustedJson(bytes)));
}
