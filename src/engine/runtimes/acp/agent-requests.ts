import { SallyportError } from "../../../errors.ts";
import { type AgentRequest, RefuseAgent } from "./connection.ts";
import { readTextFile, writeTextFile } from "./file-calls.ts";
import { elicit } from "./questions.ts";
import { objectOf, textOf } from "./raw-values.ts";
import { cancelledOutcome, requestPermission } from "./request-permission.ts";
import type { Terminals } from "./terminals.ts";
import type { AcpTurn } from "./turn.ts";
import type { TurnDesk } from "./turn-desk.ts";

export interface RequestPlace {
  readonly turn: AcpTurn | null;
  readonly terminals: Terminals;
  readonly cwd: string;
  readonly workspace: string;
  readonly tab: string;
  readonly homeFolder: string;
  /** A file that is not there is read as an empty one. */
  readonly missingIsEmpty: boolean;
}

const noTurn = "No turn runs that could ask for this.";

/** Answers what an agent asks of its client (ACP, "Client methods"). Without a turn nothing is run, written or asked. */
export async function answerAgent(
  { method, params, signal }: AgentRequest,
  place: RequestPlace,
): Promise<unknown> {
  const { turn, terminals, homeFolder, cwd } = place;
  const how = { homeFolder, signal };

  function desks(): readonly [TurnDesk, ...TurnDesk[]] {
    if (turn === null || turn.desk.context.signal.aborted) throw new RefuseAgent(-32603, noTurn);
    const [, ...others] = turn.desks();
    return [turn.desk, ...others];
  }

  switch (method) {
    case "session/request_permission":
      return turn === null
        ? cancelledOutcome
        : requestPermission(params, await turn.deskOf(objectOf(params).toolCall), how);
    case "fs/read_text_file":
      return readTextFile(params, {
        cwd,
        homeFolder,
        mayLeave: (path) => turn?.desk.allowed.reads.has(path) ?? false,
        missingIsEmpty: place.missingIsEmpty,
      });
    case "fs/write_text_file":
      return writeTextFile(params, desks(), how);
    case "terminal/create":
      return terminals.create(params, desks(), { workspace: place.workspace, tab: place.tab, signal });
    case "terminal/output":
      return terminals.output(params);
    case "terminal/wait_for_exit":
      return terminals.waitForExit(params, signal);
    case "terminal/kill":
      return terminals.kill(params);
    case "terminal/release":
      return terminals.release(params);
    case "elicitation/create":
      return turn === null ? { action: "cancel" } : elicit(params, turn.desk);
    default:
      throw new RefuseAgent(-32601, `There is no method ${textOf(method, 100) ?? ""}.`);
  }
}

/** What the agent is told of a failure: refusals in words, nothing of what went wrong inside. */
export function asAgentRefusal(error: unknown): RefuseAgent {
  if (error instanceof RefuseAgent) return error;
  return new RefuseAgent(-32603, error instanceof SallyportError ? error.message : "Internal error");
}
