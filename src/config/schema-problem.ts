import type { TSchema } from "typebox";
import type { ConfigProblem } from "./config-error.ts";
import { nearestKey } from "./nearest-key.ts";
import { ConfigSchema } from "./schema.ts";

interface SchemaFinding {
  readonly keyword: string;
  readonly instancePath: string;
  readonly params: object;
  readonly message: string;
}

/** The one finding worth telling, in words for the person who wrote the file: unknown keys first, then wrong values. */
export function schemaProblem(raw: unknown, findings: readonly SchemaFinding[]): ConfigProblem {
  const unknown = findings.find((finding) => finding.keyword === "additionalProperties");
  if (unknown) return unknownKey(keysOf(unknown.instancePath), unknown.params);
  const missing = findings.find((finding) => finding.keyword === "required");
  if (missing) {
    const names = (missing.params as { requiredProperties?: string[] }).requiredProperties ?? [];
    return { key: [...keysOf(missing.instancePath), names[0] ?? ""].join("."), message: "is missing." };
  }
  const finding = findings.find((found) => found.keyword !== "boolean") ?? findings[0];
  const keys = keysOf(finding?.instancePath ?? "");
  const schema = schemaAt(keys);
  const says = schema === null ? finding?.message : expected(schema);
  return { key: keys.join("."), message: `${says ?? "is wrong"}; it is ${kindOf(valueAt(raw, keys))}.` };
}

function unknownKey(table: string[], params: object): ConfigProblem {
  const wrong = (params as { additionalProperties?: string[] }).additionalProperties?.[0] ?? "";
  const schema = schemaAt(table) as { properties?: Record<string, unknown> } | null;
  const known = Object.keys(schema?.properties ?? {});
  const near = nearestKey(wrong, known);
  const prefix = table.length === 0 ? "" : `${table.filter((key) => !/^\d+$/.test(key)).join(".")}.`;
  const hint = near === null ? `Known here: ${known.join(", ")}.` : `Did you mean ${prefix}${near}?`;
  return { key: [...table, wrong].join("."), message: `is not a setting. ${hint}` };
}

interface SchemaNode {
  readonly type?: string;
  readonly properties?: Record<string, SchemaNode>;
  readonly patternProperties?: Record<string, SchemaNode>;
  readonly additionalProperties?: SchemaNode | boolean;
  readonly items?: SchemaNode;
  readonly anyOf?: readonly SchemaNode[];
  readonly minimum?: number;
  readonly maximum?: number;
}

function schemaAt(keys: readonly string[]): SchemaNode | null {
  let node: SchemaNode | undefined = ConfigSchema as TSchema as SchemaNode;
  for (const key of keys) {
    const own: SchemaNode | undefined = node?.properties?.[key];
    const pattern: SchemaNode | undefined = Object.values(node?.patternProperties ?? {})[0];
    const extra: SchemaNode | undefined =
      typeof node?.additionalProperties === "object" ? node.additionalProperties : undefined;
    node = own ?? (node?.type === "array" ? node.items : undefined) ?? pattern ?? extra;
    if (node === undefined) return null;
  }
  return node ?? null;
}

function expected(schema: SchemaNode): string {
  if (schema.anyOf) return `must be ${schema.anyOf.map(kindName).join(" or ")}`;
  return `must be ${kindName(schema)}`;
}

function kindName(schema: SchemaNode): string {
  if (schema.type === "integer" && schema.minimum !== undefined)
    return schema.maximum === undefined
      ? `a whole number of at least ${schema.minimum}`
      : `a whole number from ${schema.minimum} to ${schema.maximum}`;
  if (schema.type === "integer") return "a whole number";
  if (schema.type === "string") return "a text in quotes (not empty, at most 4096 characters)";
  if (schema.type === "boolean") return "true or false";
  if (schema.type === "array")
    return schema.items?.type === "object" ? "written as [[…]] tables" : "a list of texts, in brackets";
  return "a table";
}

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return "a list";
  if (value instanceof Date) return "a date";
  if (typeof value === "object") return "a table";
  if (typeof value === "string") return value === "" ? "empty" : "a text";
  return String(value);
}

function valueAt(raw: unknown, keys: readonly string[]): unknown {
  let value = raw;
  for (const key of keys) value = (value as Record<string, unknown> | undefined)?.[key];
  return value;
}

function keysOf(instancePath: string): string[] {
  if (instancePath === "") return [];
  return instancePath
    .slice(1)
    .split("/")
    .map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"));
}
