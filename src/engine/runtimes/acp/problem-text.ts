import { stripVTControlCharacters } from "node:util";
import { SallyportError } from "../../../errors.ts";
import { acpLimits } from "./acp-limits.ts";
import type { AcpAgentSpec, LoginWays } from "./agent-spec.ts";
import { AgentRefusal, ConnectionLost, NoAnswer } from "./connection.ts";
import { cutText, objectOf, textOf } from "./raw-values.ts";
import type { Redact } from "./redact.ts";

export const authRequired = -32000;
export const sessionUnknown = -32002;

export interface ProblemOf {
  readonly spec: AcpAgentSpec;
  readonly redact: Redact;
  /** The end of its stderr. */
  readonly errors: string;
  /** Null where it has not said hello. */
  readonly ways: LoginWays | null;
}

const maxChars = 600;
/** How servers of models refuse a key, in what agents pass on of it. */
const wrongKey =
  /\b401\b|unauthori[sz]ed|(invalid|incorrect|wrong|missing) api.?key|api.?key (is )?(not valid|invalid)/i;

/** What ended a turn of an agent, in words for a person: what happened, what the agent said, and what helps. */
export function asProblem(error: unknown, of: ProblemOf): unknown {
  const { title } = of.spec;
  if (error instanceof ConnectionLost)
    return problem(`${title} is gone: ${error.message}.${lastWords(of)} The next prompt starts it again.`);
  // The signal of whoever asks may have run out before.
  if (error instanceof NoAnswer || (error instanceof Error && error.name === "TimeoutError"))
    return problem(
      `${title} did not answer in time (${error instanceof NoAnswer ? error.message : "it was given up"}).${lastWords(of)} It was ended; the next prompt starts it again.`,
    );
  if (error instanceof AgentRefusal && error.code === authRequired)
    return loginProblem(of.spec, of.ways ?? noWays, refusalText(error, of.redact));
  if (error instanceof AgentRefusal) {
    const said = refusalText(error, of.redact);
    const key = wrongKey.test(said) ? keyCommand(of.spec, of.ways ?? noWays) : null;
    return problem(`${title}: ${said}${key === null ? "" : ` If its key is wrong, give it another: ${key}`}`);
  }
  return error;
}

/** What the agent itself says: its message, and the details beside it. */
export function refusalText(error: AgentRefusal, redact: Redact): string {
  const data = objectOf(error.data);
  const details = [data.details, data.message, data.error, error.data].find(
    (each) => typeof each === "string",
  );
  const said =
    typeof details === "string" && details !== error.message ? `${error.message}: ${details}` : error.message;
  return sentence(redact(said));
}

const noWays: LoginWays = { authMethods: [], keyVariables: [] };

export function loginProblem(spec: AcpAgentSpec, ways: LoginWays, said: string | null): SallyportError {
  const how =
    spec.loginHint !== null
      ? `On the daemon's machine run: ${spec.loginHint}`
      : ways.authMethods.length > 0
        ? `It offers: ${ways.authMethods.join(", ")}. Log in with its own program on the daemon's machine`
        : "Log in with its own program on the daemon's machine";
  const key = keyCommand(spec, ways);
  return problem(
    `${spec.title} needs a login or a key.${said === null ? "" : ` It says: ${said}`} ${how}${key === null ? "" : `, or give it a key: ${key}`}, then prompt again.`,
  );
}

/** The command that keeps a key: for the variable that the agent names, else for the one that it is known to read. */
function keyCommand(spec: AcpAgentSpec, { keyVariables: [variable] }: LoginWays): string | null {
  return variable === undefined ? spec.keyHint : `sallyport agents key ${spec.name} ${variable}`;
}

export function missingProgram(spec: AcpAgentSpec): SallyportError {
  return problem(
    `${spec.title} cannot be started: there is no program ${spec.command} on this machine. Install it, or name it in config.toml: [agents.${spec.name}] command = "/path/to/it"`,
  );
}

export function wrongVersion(spec: AcpAgentSpec, theirs: unknown): SallyportError {
  const said = typeof theirs === "number" ? `version ${theirs}` : "no version";
  return problem(
    `${spec.title} speaks ${said} of the Agent Client Protocol; Sallyport speaks version 1. Update whichever of the two is older.`,
  );
}

export function problem(message: string): SallyportError {
  return new SallyportError("not_supported", message);
}

function lastWords({ errors, redact }: ProblemOf): string {
  const lines = redact(errors)
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("at "));
  const last = lines.slice(-3).join(" / ");
  return last === "" ? "" : ` It said last: ${sentence(last)}`;
}

function sentence(text: string): string {
  const plain = stripVTControlCharacters(text).replace(/\s+/g, " ").trim();
  const cut = cutText(plain, maxChars);
  return /[.!?]$/.test(cut) ? cut : `${cut}.`;
}

/** A name for messages that an agent gives itself. */
export function shownName(raw: unknown): string | null {
  return textOf(raw, Math.min(200, acpLimits.titleChars));
}
