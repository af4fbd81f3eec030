import { parse, TomlError } from "smol-toml";
import { readSecretFileSync, type SecretFileProblem } from "../lib/secret-file.ts";
import { keyLine } from "./key-line.ts";
import { nearestKey } from "./nearest-key.ts";

type Values = Readonly<Record<string, string>>;

/** What `credentials.toml` holds. */
export interface Credentials {
  /** For each agent: variables of its environment. */
  readonly agents: Readonly<Record<string, Values>>;
  /** For each MCP server: variables of its environment, or headers for one that is reached by HTTP. */
  readonly mcpServers: Readonly<Record<string, Values>>;
}

/**
 * Why the file is not used. The message names the file and the next step; no word of its text that could be a key is in it,
 * and it has no cause that quotes the text.
 */
export class CredentialsError extends Error {
  override readonly name = "CredentialsError";
}

const maxBytes = 64 * 1024;
const maxNames = 200;
const maxValueChars = 8_192;
const tables = ["agents", "mcp_servers"] as const;
const ownerName = /^[a-z0-9][a-z0-9_-]{0,31}$/i;
const variableName = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;
/** RFC 9110, section 5.6.2: a token. */
const headerName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/;

/**
 * Reads `credentials.toml`; one that does not exist holds nothing. A file that others can read, that is not this user's, a
 * link, or a damaged one is refused whole: half of it would start an agent with the wrong account.
 *
 * @throws CredentialsError
 */
export function loadCredentials(path: string): Credentials {
  const file = readSecretFileSync(path, maxBytes);
  if (file.ok) return parseCredentials(file.text, path);
  if (file.problem === "missing") return { agents: {}, mcpServers: {} };
  throw new CredentialsError(`${path} is not used: ${file.detail}. ${nextSteps[file.problem](path)}`);
}

const nextSteps: Readonly<Record<Exclude<SecretFileProblem, "missing">, (path: string) => string>> = {
  link: () => "Put the file itself there.",
  not_a_file: () => "Put a file there, or take it away.",
  foreign_owner: (path) => `It must be yours: chown "$(id -un)" ${path}`,
  readable_by_others: (path) => `Others may have read the keys in it. Run: chmod 600 ${path}`,
  too_large: () => `It may have ${maxBytes / 1024} KiB.`,
  unreadable: (path) => `See to its owner and mode: ls -l ${path}`,
};

/** Parses its text. Throws CredentialsError. */
export function parseCredentials(text: string, path: string): Credentials {
  const at = (keys: readonly string[]): string => {
    const line = keyLine(text, keys);
    return line === null ? path : `${path} line ${line}`;
  };
  const refuse = (keys: readonly string[], problem: string): never => {
    throw new CredentialsError(
      `${at(keys)}: ${problem} The file looks like this: [agents.NAME] and below it lines such as OPENAI_API_KEY = "…" (docs/agents.md)`,
    );
  };
  const raw = parseToml(text, path);
  for (const table of Object.keys(raw)) {
    const near = nearestKey(table, tables);
    if (!tables.includes(table as never))
      refuse([table], `there is no such table here.${near === null ? "" : ` Did you mean ${near}?`}`);
  }

  const read = (table: (typeof tables)[number], pattern: RegExp): Record<string, Values> => {
    const owners = raw[table] ?? {};
    if (!isTable(owners)) return refuse([table], `${table} is not a table.`);
    if (Object.keys(owners).length > maxNames) return refuse([table], `${table} has too many tables.`);
    for (const [owner, values] of Object.entries(owners)) {
      const keys = [table, owner];
      if (!ownerName.test(owner)) refuse(keys, `below ${table} stands a name that is none.`);
      if (!isTable(values)) return refuse(keys, `${table}.${owner} is not a table.`);
      for (const [name, value] of Object.entries(values)) checkValue([...keys, name], value, pattern);
    }
    return owners as Record<string, Values>;
  };

  function checkValue(keys: readonly string[], value: unknown, pattern: RegExp): void {
    const name = keys.at(-1) ?? "";
    if (!pattern.test(name)) refuse(keys, "this is no name of a variable.");
    const key = keys.join(".");
    if (name.startsWith("SALLYPORT_")) refuse(keys, `${key} is a variable of ours; agents do not get it.`);
    if (typeof value !== "string" || value === "") refuse(keys, `${key} must be a text in quotes.`);
    else if (value.length > maxValueChars || /[\0\r\n\p{Cs}]/u.test(value))
      refuse(keys, `${key} is too long, or has a character that no key has.`);
  }

  return { agents: read("agents", variableName), mcpServers: read("mcp_servers", headerName) };
}

type Table = Readonly<Record<string, unknown>>;

function parseToml(text: string, path: string): Table {
  try {
    return parse(text, { maxDepth: 8 });
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    // Its message quotes the line, so it goes nowhere.
    throw new CredentialsError(`${path} line ${error.line} is not valid TOML, so the file is not used.`);
  }
}

function isTable(value: unknown): value is Table {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date);
}
