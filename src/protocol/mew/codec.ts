import type { TSchema } from "typebox";
import { Check, Errors } from "typebox/value";
import { limits } from "../limits.ts";
import {
  type MewClientMessage,
  type MewClientType,
  mewClientDefaults,
  mewClientSchemas,
  mewUnsupportedTypes,
} from "./client-messages.ts";
import { type MewServerMessage, type MewServerType, mewServerSchemas } from "./server-messages.ts";
import { type MewSpelling, spell, spellingOf, toSnake } from "./spelling.ts";

/**
 * Messages of the mew dialect to and from JSON (docs/protocol.md, "The mew dialect").
 *
 * In memory every message has its snake_case `type`; the spelling exists on the wire only. A server gives each frame's
 * parsed JSON to `decodeClientMessage`, remembers the first `spelling` it gets (also that of a problem) for the life of
 * the connection, answers `problem` with an `error` message, and sends `encodeServerMessage(message, spelling)`. What a
 * spelling is never sent, `isSentIn` of server-messages.ts tells.
 */
export interface DecodedMessage<M> {
  readonly ok: true;
  readonly message: M;
  readonly spelling: MewSpelling;
}
export interface DecodeProblem {
  readonly ok: false;
  /** A sentence for the sender; repeats nothing of what was sent. */
  readonly problem: string;
  /** Null where not even a tag was to be read. */
  readonly spelling: MewSpelling | null;
  /** The snake_case tag where it is one that exists, so that a scoped request can get a scoped answer. */
  readonly type: MewClientType | null;
  /** What was readable of the identities that an answer repeats. */
  readonly ids: MewIdentities;
}
export interface MewIdentities {
  readonly session_id?: string;
  readonly request_id?: string;
  readonly job_id?: string;
}
export type DecodedClientMessage = DecodedMessage<MewClientMessage> | DecodeProblem;

type Raw = Readonly<Record<string, unknown>>;

/** Values that are taken in both spellings; on the way in they become snake_case. */
const enumFields: ReadonlySet<string> = new Set(["decision", "client_kind", "mode"]);
/** More elements than any schema allows: an array cut to this is refused all the same, and soon. */
const lookedAtElements = 256;

/**
 * Reads what a client sent. Never throws, whatever the value is; the bytes were bounded before they were parsed.
 *
 * @param raw parsed JSON
 */
export function decodeClientMessage(raw: unknown): DecodedClientMessage {
  const ids = readIdentities(raw);
  const refuse = (
    problem: string,
    spelling: MewSpelling | null = null,
    type: MewClientType | null = null,
  ): DecodeProblem => ({ ok: false, problem: `invalid message: ${problem}`, spelling, type, ids });

  if (!isObject(raw)) return refuse("a message is a JSON object");
  if (typeof raw.type !== "string") return refuse('the field "type" is missing');
  const spelling = spellingOf(raw.type);
  if (spelling === null) return refuse("this type does not exist");
  const tag = toSnake(raw.type);
  if (mewUnsupportedTypes.has(tag))
    return { ok: false, problem: `not supported by this daemon: ${tag}`, spelling, type: null, ids };
  if (!isKey(mewClientSchemas, tag)) return refuse("this type does not exist", spelling);
  const schema = mewClientSchemas[tag];
  const message = knownFields(raw, tag, schema);
  const problem = firstProblem(schema, message);
  if (problem !== null) return refuse(problem, spelling, tag);
  return { ok: true, message: message as MewClientMessage, spelling };
}

/** The same for a frame's text: what is no JSON is a problem, too. */
export function decodeClientText(text: string): DecodedClientMessage {
  return decodeClientMessage(parseOrNull(text));
}

/** The JSON text of a message in a spelling. The message is one of ours: nothing is checked. */
export function encodeServerMessage(message: MewServerMessage, spelling: MewSpelling): string {
  if (spelling === "snake") return JSON.stringify(message);
  return JSON.stringify(inCamel(message));
}

/** What a client sends; fields that are at their default are written all the same. */
export function encodeClientMessage(message: MewClientMessage, spelling: MewSpelling): string {
  return JSON.stringify({ ...message, type: spell(message.type, spelling) });
}

/** Reads what a server sent, in either spelling; null for what is none of its messages. Never throws. */
export function decodeServerText(text: string): DecodedMessage<MewServerMessage> | null {
  const raw = parseOrNull(text);
  if (!isObject(raw) || typeof raw.type !== "string") return null;
  const spelling = spellingOf(raw.type);
  const tag = toSnake(raw.type);
  if (spelling === null || !isKey(mewServerSchemas, tag)) return null;
  const event =
    tag === "provider" && isObject(raw.event) && typeof raw.event.type === "string"
      ? { event: { ...raw.event, type: toSnake(raw.event.type) } }
      : {};
  const message: Raw = { ...raw, ...event, type: tag };
  if (!Check(mewServerSchemas[tag as MewServerType] as TSchema, message)) return null;
  return { ok: true, message: message as unknown as MewServerMessage, spelling };
}

function inCamel(message: MewServerMessage): object {
  if (message.type === "provider")
    return { type: "Provider", event: { ...message.event, type: spell(message.event.type, "camel") } };
  return { ...message, type: spell(message.type, "camel") };
}

/** The fields of a message that its schema knows, with defaults for those that are missing or null. */
function knownFields(raw: Raw, tag: MewClientType, schema: (typeof mewClientSchemas)[MewClientType]): Raw {
  const defaults: Raw = mewClientDefaults[tag] ?? {};
  const message: Record<string, unknown> = { type: tag };
  for (const field of Object.keys(schema.properties)) {
    if (field === "type") continue;
    const value = Object.hasOwn(raw, field) ? raw[field] : undefined;
    // Some languages write an empty list, or what was not set, as null.
    const isLeftOut = value === undefined || value === null;
    if (!isLeftOut) message[field] = tidy(field, value);
    else if (Object.hasOwn(defaults, field)) message[field] = defaults[field];
  }
  return message;
}

function tidy(field: string, value: unknown): unknown {
  if (typeof value === "string" && enumFields.has(field) && value.length <= 64) return toSnake(value);
  if (!Array.isArray(value)) return value;
  return value.slice(0, lookedAtElements).map((item) => (isObject(item) ? withoutNulls(item) : item));
}

/** An attachment: path and mime, absent instead of null. */
function withoutNulls({ path, mime }: Raw): Raw {
  return mime === undefined || mime === null ? { path } : { path, mime };
}

/** What is wrong with the first wrong field, in the schema's words; null when nothing is. */
function firstProblem(schema: TSchema, message: Raw): string | null {
  if (Check(schema, message)) return null;
  const [first] = Errors(schema, message);
  if (!first) return "it does not fit its type";
  if (first.keyword === "required") {
    const missing: readonly string[] = first.params.requiredProperties;
    return `the field "${missing[0] ?? ""}" is missing`;
  }
  const field = first.instancePath.split("/").slice(1).join(".");
  return `the field "${field}" ${first.keyword === "const" ? "has none of the values it may have" : first.message}`;
}

function readIdentities(raw: unknown): MewIdentities {
  if (!isObject(raw)) return {};
  const ids: Record<string, string> = {};
  for (const field of ["session_id", "request_id", "job_id"]) {
    const value = raw[field];
    if (typeof value === "string" && value.length <= limits.requestIdChars) ids[field] = value;
  }
  return ids;
}

function parseOrNull(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // No JSON is no object: the caller refuses both alike.
    return null;
  }
}

function isObject(value: unknown): value is Raw {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isKey<T extends object>(table: T, key: string): key is Extract<keyof T, string> {
  return Object.hasOwn(table, key);
}
